"""torchmetrics: classes as a training loop uses them, and functions, on a device."""

import torch
import torchmetrics as tm
import torchmetrics.functional as F

C, D = 5, "cuda"
torch.manual_seed(0)
classes = [
    tm.Accuracy(task="multiclass", num_classes=C),
    tm.F1Score(task="multiclass", num_classes=C),
    tm.AUROC(task="multiclass", num_classes=C, thresholds=20),
    tm.ConfusionMatrix(task="multiclass", num_classes=C),
    tm.CohenKappa(task="multiclass", num_classes=C),
    tm.JaccardIndex(task="multiclass", num_classes=C),
    tm.MatthewsCorrCoef(task="multiclass", num_classes=C),
    tm.CalibrationError(task="multiclass", num_classes=C),
    tm.AveragePrecision(task="multiclass", num_classes=C),
]
regression = [
    tm.MeanSquaredError(),
    tm.MeanAbsoluteError(),
    tm.R2Score(),
    tm.PearsonCorrCoef(),
    tm.SpearmanCorrCoef(),
    tm.ExplainedVariance(),
    tm.CosineSimilarity(),
    tm.KendallRankCorrCoef(),
]
image = [
    tm.image.StructuralSimilarityIndexMeasure(data_range=1.0),
    tm.image.PeakSignalNoiseRatio(data_range=1.0),
    tm.image.TotalVariation(),
    tm.image.SpectralAngleMapper(),
]
retrieval = [
    tm.retrieval.RetrievalMAP(),
    tm.retrieval.RetrievalNormalizedDCG(),
    tm.retrieval.RetrievalPrecision(top_k=2),
]
for m in (*classes, *regression, *image, *retrieval):
    m.to(D)
mean = tm.MeanMetric().to(D)
for _ in range(3):
    logits, target = torch.randn(32, C, device=D).softmax(-1), torch.randint(C, (32,), device=D)
    for m in classes:
        m.update(logits, target)
    x, y = torch.randn(32, device=D), torch.randn(32, device=D)
    for m in regression:
        m.update(*((x.view(4, 8), y.view(4, 8)) if isinstance(m, tm.CosineSimilarity) else (x, y)))
    a, b = torch.rand(2, 3, 32, 32, device=D), torch.rand(2, 3, 32, 32, device=D)
    for m in image:
        m.update(a) if isinstance(m, tm.image.TotalVariation) else m.update(a, b)
    for m in retrieval:
        m.update(torch.rand(32, device=D), torch.randint(2, (32,), device=D), indexes=torch.randint(4, (32,), device=D))
    mean.update(x.mean())
for m in (*classes, *regression, *image, *retrieval, mean):
    m.compute()
    m.reset()
p, t = torch.rand(16, device=D), torch.randint(2, (16,), device=D)
for name in ("auroc", "average_precision", "precision_recall_curve", "roc", "hinge_loss", "stat_scores", "specificity"):
    getattr(F, name)(p, t, task="binary")
F.pairwise_cosine_similarity(torch.randn(8, 4, device=D))
F.dice(p, t) if hasattr(F, "dice") else None
F.signal_noise_ratio(torch.randn(4, 100, device=D), torch.randn(4, 100, device=D))
F.permutation_invariant_training(
    torch.randn(2, 2, 50, device=D),
    torch.randn(2, 2, 50, device=D),
    F.scale_invariant_signal_distortion_ratio,
    eval_func="max",
)
