-GLANES=16 -GWARPS=16 -DMODEL_LANES=16 -DMODEL_WARPS=16
-D_GNU_SOURCE -Isim/model -Idocs/spec/c -Isim/include -Itests/rtl/simt_executor
rtl/lint.vlt
rtl/tern_pkg.sv rtl/gen/tern_spec_pkg.sv rtl/simt/simt_op_pkg.sv rtl/simt/simt_core_pkg.sv
-y rtl/simt -y rtl/simt/lsu -y rtl/fp -y rtl/mem
tests/rtl/simt_executor/tb.sv
tests/rtl/simt_executor/bench.c tests/rtl/simt_executor/cases.c tests/rtl/simt_executor/random.c
sim/model/decode.c sim/model/block.c sim/model/simt.c sim/model/state.c sim/model/warp.c sim/model/memory.c
sim/model/fp.c sim/model/fp_exact.c
sim/model/ops_int.c sim/model/ops_flow.c sim/model/ops_memory.c sim/model/ops_float.c
variant simt_executor_small -GLANES=8 -GWARPS=8 -DMODEL_LANES=8 -DMODEL_WARPS=8
variant simt_executor_tiny -GLANES=4 -GWARPS=4 -GLMEM_KIB=16 -DMODEL_LANES=4 -DMODEL_WARPS=4 -DMODEL_LMEM_KIB=16
variant simt_executor_wide -GLANES=32 -GWARPS=32 -DMODEL_LANES=32 -DMODEL_WARPS=32
