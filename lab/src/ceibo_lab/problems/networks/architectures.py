"""The paper's three networks, with the parameter names that torchvision's checkpoints use.

FC3        784–1000–1000–10 with ReLU                  fc1, fc2, fc3
VGG16      thirteen 3×3 convolutions, pooled head      features.0 … features.28, classifier.…
ResNet50   sixteen bottlenecks                         conv1, layer1.0.conv1 … layer4.2.conv3, fc
"""

from dataclasses import dataclass
from typing import Final, cast, final

from torch import Tensor, nn

# 0: pool by two
VGG16_PLAN: Final = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
# bottlenecks, width of their 3×3 convolution
RESNET50_STAGES: Final = ((3, 64), (4, 128), (6, 256), (3, 512))


@final
class FC3(nn.Module):
    """Three fully connected layers on flattened pictures (n, pixels)."""

    def __init__(self, pixels: int = 784, hidden: int = 1000, classes: int = 10) -> None:
        super().__init__()
        self.fc1 = nn.Linear(pixels, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, classes)

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.fc3(self.fc2(self.fc1(x).relu()).relu()))


@final
class VGG16(nn.Module):
    """VGG-16's convolutions with global average pooling and a small classifier of their own."""

    def __init__(self, classes: int = 100, hidden: int = 512) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width = 3
        for planned in VGG16_PLAN:
            if planned:
                layers += [nn.Conv2d(width, planned, 3, padding=1), nn.ReLU()]
                width = planned
            else:
                layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Dropout(), nn.Linear(hidden, classes)
        )

    def pooled(self, x: Tensor) -> Tensor:
        """What the classifier sees: (n, 512)."""
        return cast(Tensor, self.features(x).mean(dim=(2, 3)))

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.classifier(self.pooled(x)))


@final
@dataclass(frozen=True)
class ResNetStyle:
    """Where published ResNet-50 weights differ.

    `stride_first`: the 1×1 convolution that opens a stage has the stride (He et al.'s own
    networks), not the 3×3 one (torchvision's). `epsilon` is that of the batch normalisations.
    """

    stride_first: bool = False
    epsilon: float = 1e-5


HE_STYLE: Final = ResNetStyle(stride_first=True, epsilon=1.001e-5)


@final
class Bottleneck(nn.Module):
    """1×1, 3×3 and 1×1 convolutions around a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int, style: ResNetStyle) -> None:
        super().__init__()
        first, second = (stride, 1) if style.stride_first else (1, stride)
        outputs, epsilon = 4 * width, style.epsilon
        self.conv1 = nn.Conv2d(inputs, width, 1, stride=first, bias=False)
        self.bn1 = nn.BatchNorm2d(width, epsilon)
        self.conv2 = nn.Conv2d(width, width, 3, stride=second, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width, epsilon)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs, epsilon)
        self.downsample: nn.Module | None = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False),
                nn.BatchNorm2d(outputs, epsilon),
            )

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.bn1(self.conv1(x)).relu()
        y = self.bn2(self.conv2(y)).relu()
        return cast(Tensor, (self.bn3(self.conv3(y)) + shortcut).relu())


@final
class ResNet50(nn.Module):
    """ResNet-50 for pictures (n, 3, h, w)."""

    def __init__(self, classes: int = 1000, style: ResNetStyle | None = None) -> None:
        super().__init__()
        style = style or ResNetStyle()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64, style.epsilon)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        inputs = 64
        for number, (blocks, width) in enumerate(RESNET50_STAGES, start=1):
            stage: list[nn.Module] = []
            for k in range(blocks):
                stage.append(Bottleneck(inputs, width, 2 if k == 0 and number > 1 else 1, style))
                inputs = 4 * width
            self.add_module(f"layer{number}", nn.Sequential(*stage))
        self.fc = nn.Linear(inputs, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.bn1(self.conv1(x)).relu())
        for number in range(1, len(RESNET50_STAGES) + 1):
            x = self.get_submodule(f"layer{number}")(x)
        return cast(Tensor, self.fc(x.mean(dim=(2, 3))))


def vgg16_layers() -> tuple[str, ...]:
    """Names of VGG-16's thirteen convolutions, from the input on."""
    names, index = [], 0
    for planned in VGG16_PLAN:
        if planned:
            names.append(f"features.{index}")
        index += 2 if planned else 1
    return tuple(names)


def resnet50_layers() -> tuple[str, ...]:
    """Names of the sixteen 3×3 convolutions of ResNet-50's bottlenecks, from the input on."""
    counts = enumerate((blocks for blocks, _ in RESNET50_STAGES), start=1)
    return tuple(f"layer{stage}.{k}.conv2" for stage, blocks in counts for k in range(blocks))
