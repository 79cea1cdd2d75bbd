"""Of PyTorch what tools/gpucheck/torch_layers.py uses, without arithmetic: calls are written to the file FAKE_TORCH_CALLS."""

import os

__version__ = "0"
float16, bfloat16, float32, float64 = "f16", "bf16", "f32", "f64"
contiguous_format, channels_last, channels_last_3d = "nchw", "nhwc", "ndhwc"


def note(*words):
    with open(os.environ["FAKE_TORCH_CALLS"], "a", encoding="utf-8") as file:
        file.write(" ".join(str(word).replace(" ", "") for word in words) + "\n")


class Tensor:
    count = 0

    def __init__(self, shape, dtype):
        Tensor.count += 1
        self.name, self.shape, self.dtype, self.form = "t%d" % Tensor.count, list(shape), dtype, None

    def contiguous(self, memory_format):
        self.form = memory_format
        return self

    def element_size(self):
        return {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[self.dtype]

    def __str__(self):
        return "%s:%s:%s:%s" % (self.name, "x".join(map(str, self.shape)), self.dtype, self.form)


def empty(count, dtype):
    return Tensor([count], dtype)


def randn(shape, dtype, device):
    return Tensor(shape, dtype)


class no_grad:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class version:
    cuda = "0.0"


class backends:
    class cudnn:
        enabled = True

        @staticmethod
        def version():
            return 90000


class ops:
    class aten:
        @staticmethod
        def convolution(x, w, bias, stride, pad, dilation, transposed, out_pad, groups):
            if x.shape[1] == 13:
                raise RuntimeError("unlucky\nand more")
            note("fwd", backends.cudnn.enabled, x, w, stride, pad, dilation, groups)

        @staticmethod
        def convolution_backward(dy, x, w, sizes, stride, pad, dilation, transposed, out_pad, groups, mask):
            note("bwd", backends.cudnn.enabled, dy, x, w, stride, pad, dilation, groups, mask)


class cuda:
    clock = 0

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            cuda.clock += 4
            self.at = cuda.clock

        def elapsed_time(self, end):
            return end.at - self.at

    @staticmethod
    def is_available():
        return "FAKE_TORCH_CALLS" in os.environ

    @staticmethod
    def _sleep(cycles):
        note("sleep", cycles)

    @staticmethod
    def synchronize():
        pass
