"""torch_layers.py time|once [DEVICE [SECONDS]]: runs the problems on standard input, a line each, through PyTorch.

time   PyTorch's own kernels, without cuDNN: {"problem": ..., "torch_ms": ...}, null and "error" where it cannot
once   as PyTorch runs them, once: for the drop-in's mode verify

DEVICE is cuda; cpu is for trying this file out. Ends after SECONDS. Prints JSON lines; {"missing": ...} where there is no PyTorch or GPU."""

import json
import math
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpucheck import problems

SAMPLES, CALLS, MOST_COPIES = 9, 8, 64


def say(**record):
    print(json.dumps(record), flush=True)


class Layer:
    """The tensors of a problem, several times over, and the call."""

    def __init__(self, torch, text, device, copies):
        given = problems.fields(text)
        sizes = [int(part) for part in given["in"].split("x")]
        axes = len(sizes)
        if "pad_after" in given or given.get("mode", "xcorr") != "xcorr" or "xstrides" in given:
            raise ValueError("PyTorch has no such convolution")
        self.torch, self.direction = torch, given.get("dir", "fwd")
        self.groups = int(given.get("groups", "1"))
        self.pad, self.stride, self.dilation = (problems.numbers(given.get(key, default), axes) for key, default in
                                                (("pad", "0"), ("stride", "1"), ("dilation", "1")))
        filters = problems.numbers(given["filter"], axes)
        outs = [(size + 2 * pad - dilation * (f - 1) - 1) // stride + 1 for size, pad, dilation, f, stride in
                zip(sizes, self.pad, self.dilation, filters, self.stride)]
        n, c, k = (int(given[key]) for key in "nck")
        dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}[given["dtype"]]
        form = torch.contiguous_format
        if given.get("layout", "nchw") == "nhwc" and axes > 1:
            form = torch.channels_last if axes == 2 else torch.channels_last_3d
        elif given.get("layout", "nchw") == "nhwc":
            raise ValueError("PyTorch has no channels-last format for one axis")
        shapes = ([n, c] + sizes, [k, c // self.groups] + filters, [n, k] + outs)
        if copies is None:  # three times a cache of 64 MB
            size = torch.empty(0, dtype=dtype).element_size() * sum(map(math.prod, shapes))
            copies = min(MOST_COPIES, 2 + int(3 * 64e6 / size))
        self.sets = [[torch.randn(shape, dtype=dtype, device=device).contiguous(memory_format=form) for shape in shapes]
                     for _ in range(copies)]

    def call(self, copy=0):
        torch, (x, w, dy) = self.torch, self.sets[copy % len(self.sets)]
        if self.direction == "fwd":
            return torch.ops.aten.convolution(x, w, None, self.stride, self.pad, self.dilation, False,
                                              [0] * len(self.pad), self.groups)
        mask = [self.direction == "bwd_data", self.direction == "bwd_filter", False]
        return torch.ops.aten.convolution_backward(dy, x, w, None, self.stride, self.pad, self.dilation, False,
                                                   [0] * len(self.pad), self.groups, mask)


def sample(torch, layer, device, first):
    """Milliseconds of a call, of several in a row."""
    if device == "cpu":
        begin = time.perf_counter()
        layer.call(first)
        return 1e3 * (time.perf_counter() - begin)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(2000000)  # the GPU waits until all is enqueued
    begin.record()
    for i in range(CALLS):
        layer.call(first + i)
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / CALLS


def time_of(torch, text, device):
    layer = Layer(torch, text, device, None if device != "cpu" else 1)
    with torch.no_grad():
        sample(torch, layer, device, 0)
        return statistics.median(sample(torch, layer, device, i * CALLS) for i in range(SAMPLES))


def once(torch, text, device):
    with torch.no_grad():
        Layer(torch, text, device, 1).call()
    if device != "cpu":
        torch.cuda.synchronize()


def main(mode, device="cuda", seconds="inf"):
    end = time.monotonic() + float(seconds)
    try:
        import torch
    except ImportError as error:
        return say(missing="no PyTorch: %s" % error)
    if device == "cuda" and not torch.cuda.is_available():
        return say(missing="PyTorch %s sees no GPU" % torch.__version__)
    if mode == "time":
        say(torch=torch.__version__, cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version())
    torch.backends.cudnn.enabled = mode == "once"
    for line in sys.stdin:
        if time.monotonic() > end:
            break
        text, record = line.strip(), {"problem": line.strip()}
        try:
            if mode == "time":
                record["torch_ms"] = time_of(torch, text, device)
            else:
                once(torch, text, device)
        except (RuntimeError, ValueError, NotImplementedError) as error:
            record.update(torch_ms=None, error=str(error).splitlines()[0])
        say(**record)
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
