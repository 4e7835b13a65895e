/* Where weights come from: tensors by name, as FP32, whatever they are stored in. */
#pragma once
#include "tensor/packing.h"

typedef struct TensorInfo {
    Str name;
    DType dtype; /* as stored */
    Shape shape;
} TensorInfo;

typedef struct TensorSource {
    void *context;
    /* False when the tensor does not exist. */
    bool (*find)(void *context, Str name, TensorInfo *out);
    /* Reads the whole tensor, converted to FP32 (exact for F16/BF16/F32), into out[shape_elems]. */
    bool (*read)(void *context, Str name, float *out, Error *err);
} TensorSource;

/* Builds the region of a packed matrix in FP32, row-major, `region` in padded coordinates; holes
 * are 0. Reads every source tensor it needs once. */
bool tensor_read_packed(const TensorSource *source, const Packing *packing, Region region,
                        float *out, Arena scratch, Error *err);
