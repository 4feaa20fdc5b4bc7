"""What decides a run's weights and measures. It imports torch, numpy, scipy and safetensors: no
Snakemake, no paper, nothing of `workflow`.

From the ground up: `build`, `normalizers` and `kernels`, `layers`, `batches`, `architectures`,
`objectives`, `training`, `probes`. Each imports only what stands before it here. What keeps a run
and changes no number is in `workflow/runtime`. `hugging_face` serves models of transformers, and
nothing imports it.
"""
