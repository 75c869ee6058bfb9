"""gpytorch and botorch: exact and variational regression, and an acquisition that is optimised."""

import gpytorch
import torch
from botorch.acquisition import UpperConfidenceBound, qExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf

D = "cuda"
torch.manual_seed(0)
x = torch.rand(40, 2, device=D, dtype=torch.double)
y = torch.sin(6 * x.sum(-1)) + 0.1 * torch.randn(40, device=D, dtype=torch.double)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood().to(D)
model = Exact(likelihood).to(D).double()
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    (-mll(model(x), y)).backward()
    optimizer.step()
model.eval(), likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    predicted = likelihood(model(torch.rand(10, 2, device=D, dtype=torch.double)))
    predicted.confidence_region()
    predicted.sample()
with gpytorch.settings.max_cholesky_size(10):
    model.train(), likelihood.train()
    (-mll(model(x), y)).backward()
single = SingleTaskGP(x, y.unsqueeze(-1))
try:
    fit_gpytorch_mll(
        gpytorch.mlls.ExactMarginalLogLikelihood(single.likelihood, single),
        optimizer_kwargs={"options": {"maxiter": 3}},
    )
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], device=D, dtype=torch.double)
    optimize_acqf(
        qExpectedImprovement(single, y.max()), bounds, q=2, num_restarts=2, raw_samples=8, options={"maxiter": 3}
    )
    optimize_acqf(UpperConfidenceBound(single, 0.2), bounds, q=1, num_restarts=2, raw_samples=8, options={"maxiter": 3})
except Exception as fault:
    print("botorch", type(fault).__name__, str(fault)[:200])
