/* INSTANCE(layout, channels_last, dtype, T) for both layouts and all types of x, w and y. */
INSTANCE(nchw, false, f16, __half)
INSTANCE(nchw, false, bf16, __nv_bfloat16)
INSTANCE(nchw, false, f32, float)
INSTANCE(nchw, false, f64, double)
INSTANCE(nhwc, true, f16, __half)
INSTANCE(nhwc, true, bf16, __nv_bfloat16)
INSTANCE(nhwc, true, f32, float)
INSTANCE(nhwc, true, f64, double)
#undef INSTANCE
