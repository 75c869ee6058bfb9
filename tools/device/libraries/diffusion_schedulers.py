"""diffusers: every scheduler, in the forms in which pipelines and training scripts use them."""

import inspect
import os

os.environ["HF_HUB_OFFLINE"] = "1"

import diffusers
import diffusers.schedulers
import torch

D = "cuda"
torch.manual_seed(0)
torch.set_num_threads(1)  # there is nothing to share, and threads wait for each other

# What the constructor of many takes; each is one more form of a scheduler.
FORMS = (
    {"use_karras_sigmas": True},
    {"use_beta_sigmas": True},
    {"use_lu_lambdas": True},
    {"use_flow_sigmas": True, "prediction_type": "flow_prediction"},
    {"thresholding": True},
    {"prediction_type": "v_prediction"},
    {"timestep_spacing": "trailing"},
    {"algorithm_type": "sde-dpmsolver++"},
    {"solver_order": 3},
    {"final_sigmas_type": "sigma_min"},
    {"use_dynamic_shifting": True},
    {"stochastic_sampling": True},
    {"skip_prk_steps": True},
    {"variance_type": "learned_range"},
    {"variance_type": "fixed_large"},
)
NEEDED = {
    "mask_token_id": 15, "num_vec_classes": 16, "schedule_mode": "log", "noise_mode": "1/t", "tsr_k": 1.0,
    "tsr_sigma": 1.0,
}  # fmt: skip
FEW = {"ConsistencyDecoderScheduler": 2, "SCMScheduler": 2}  # as many steps as they take
WORDS = ("BlockRefinementScheduler", "DiscreteDDIMScheduler", "EntropyBoundScheduler")  # of texts


def tried(name, make):
    try:
        make()
    except Exception as fault:
        print(name, type(fault).__name__, str(fault)[:200])


def takes(call):
    return inspect.signature(call).parameters


def noise(*shape):
    return torch.randn(*(shape or (2, 3, 8, 8)), device=D)


def made(kind, **form):
    needed = {k: v for k, v in NEEDED.items() if k in takes(kind.__init__)}
    return kind(**needed, **form)


def spaced(scheduler, n):
    """Set as a pipeline does it."""
    given = {"device": D}
    n = min(n, FEW.get(type(scheduler).__name__, n))
    if getattr(scheduler.config, "use_dynamic_shifting", False):
        given["mu"] = 0.6
    if "stage_index" in takes(scheduler.set_timesteps):
        given["stage_index"] = 0
    scheduler.set_timesteps(n, **given)
    return scheduler.timesteps[:n] if type(scheduler).__name__ in FEW else scheduler.timesteps


def images(scheduler, n, start=0, generator=None, plain=False):
    """Denoise from a step on."""
    timesteps = spaced(scheduler, n)[start:]
    if start and hasattr(scheduler, "set_begin_index"):
        scheduler.set_begin_index(start)
    wanted = takes(scheduler.step)
    x = noise() * getattr(scheduler, "init_noise_sigma", 1.0)
    wide = 2 if getattr(scheduler.config, "variance_type", "") == "learned_range" else 1
    given = {"generator": generator} if "generator" in wanted and generator is not None else {}
    given |= {"original_image": noise(), "mask": noise().gt(0).float()} if "mask" in wanted else {}
    given |= {"eta": 0.7} if "eta" in wanted and not plain else {}
    given |= {"s_churn": 0.5} if "s_churn" in wanted and start else {}
    given |= {"return_dict": False} if "return_dict" in wanted and not plain else {}
    for t in timesteps:
        scaled = scheduler.scale_model_input(x, t) if hasattr(scheduler, "scale_model_input") else x
        out = scheduler.step(torch.cat([noise() + scaled * 0.1] * wide, 1), t, x, **given)
        x = out.prev_sample if plain else out[0]


def noised(scheduler):
    """Training: noise at random steps of the schedule."""
    x, e = noise(), noise()
    at = scheduler.timesteps[torch.randint(0, len(scheduler.timesteps), (2,))].to(D)
    if hasattr(scheduler, "add_noise"):
        scheduler.add_noise(x, e, at.long() if isinstance(scheduler, diffusers.SASolverScheduler) else at)
    if hasattr(scheduler, "get_velocity"):
        scheduler.get_velocity(x, e, at)


def begun(scheduler):
    """Image to image: noise of the step that comes first."""
    flows = hasattr(scheduler, "scale_noise")
    # One of these takes no step of each image.
    one = isinstance(scheduler, diffusers.FlowMatchHeunDiscreteScheduler)
    timesteps = spaced(scheduler, 6)
    at = timesteps[2] if one else timesteps[-1:].repeat(2)
    for start in (None, 2):
        if start is not None and hasattr(scheduler, "set_begin_index"):
            scheduler.set_begin_index(start)
        if flows:
            scheduler.scale_noise(noise(), at, noise())
        else:
            scheduler.add_noise(noise(), noise(), at)


def scheduled(name, kind):
    """A scheduler of images: by default, from a later step, with generators, as dictionaries, in training."""
    tried(name, lambda: images(made(kind), 10))
    tried(f"{name} plain", lambda: images(made(kind), 4, plain=True))
    tried(f"{name} later", lambda: images(made(kind), 4, 2, torch.Generator(D).manual_seed(0)))
    if "generator" in takes(kind.step):
        tried(f"{name} host", lambda: images(made(kind), 3, 0, torch.Generator().manual_seed(0)))
    if hasattr(kind, "add_noise") and getattr(made(kind), "timesteps", None) is not None:
        tried(f"{name} noised", lambda: noised(made(kind)))
    if hasattr(kind, "add_noise") or hasattr(kind, "scale_noise"):
        tried(f"{name} begun", lambda: begun(made(kind)))
    for form in FORMS:
        if form.keys() <= takes(kind.__init__).keys():
            tried(f"{name} {form}", lambda form=form: images(made(kind, **form), 4))


def words(kind):
    scheduler = made(kind)
    ids = torch.randint(0, 15, (2, 32), device=D)
    given = {"mask_token_id": 15} if "mask_token_id" in takes(scheduler.step) else {}
    for t in spaced(scheduler, 5):
        ids = scheduler.step(noise(2, 32, 16), t, ids, **given).prev_sample
        if hasattr(scheduler, "step_correct") and 0 < t < 4:
            scheduler.step_correct(noise(2, 32, 16), t, ids)
    if hasattr(scheduler, "add_noise"):
        scheduler.add_noise(ids, attention_mask=torch.ones_like(ids), prompt_length=4, block_length=4, mask_token_id=15)


def tokens():
    """Images of a codebook."""
    scheduler = made(diffusers.schedulers.AmusedScheduler)
    scheduler.set_timesteps(5, temperature=(2, 0), device=D)
    ids = torch.full((2, 4, 4), 15, device=D)
    for t in scheduler.timesteps:
        ids = scheduler.step(noise(2, 15, 4, 4), t, ids, generator=torch.Generator(D)).prev_sample
    scheduler.add_noise(ids, scheduler.timesteps[2])


def vectors():
    scheduler = made(diffusers.schedulers.VQDiffusionScheduler)
    ids = torch.full((2, 64), 15, device=D)
    for t in spaced(scheduler, 5):
        ids = scheduler.step(noise(2, 15, 64).log_softmax(1), t, ids).prev_sample


def variances():
    scheduler = made(diffusers.schedulers.ScoreSdeVeScheduler)
    timesteps = spaced(scheduler, 5)
    scheduler.set_sigmas(5)
    x = noise() * scheduler.init_noise_sigma
    for i, t in enumerate(timesteps):
        scheduler.sigmas[i] * torch.ones(2, device=D)
        x = scheduler.step_correct(noise(), x).prev_sample
        x = scheduler.step_pred(noise(), t, x).prev_sample
    scheduler.add_noise(x, noise(), torch.tensor([1, 2], device=D))


def two_steps_back():
    scheduler = made(diffusers.schedulers.CogVideoXDPMScheduler)
    timesteps, x, old = spaced(scheduler, 5), noise(2, 2, 4, 4, 4), None
    for i, t in enumerate(timesteps):
        before = timesteps[i - 1] if i > 0 else None
        x, old = scheduler.step(noise(2, 2, 4, 4, 4), old, t, before, x, return_dict=False)
    noised(scheduler)


def expanded():
    """Of steps that each image has, the last of which is the end."""
    scheduler = made(diffusers.DDPMWuerstchenScheduler)
    x = noise()
    for t in spaced(scheduler, 5)[:-1]:
        x = scheduler.step(noise(), t.expand(2), x, generator=torch.Generator(D)).prev_sample
    scheduler.add_noise(noise(), noise(), torch.rand(2, device=D))


def corrected():
    """Second order by hand."""
    scheduler = made(diffusers.KarrasVeScheduler)
    x = noise() * scheduler.init_noise_sigma
    for t in spaced(scheduler, 5):
        sigma, before = scheduler.schedule[t], scheduler.schedule[t - 1] if t > 0 else 0
        hat, sigma_hat = scheduler.add_noise_to_input(x, sigma)
        out = scheduler.step(noise(), sigma_hat, before, hat)
        if before != 0:
            out = scheduler.step_correct(noise(), sigma_hat, before, hat, out.prev_sample, out["derivative"])
        x = out.prev_sample


def stages():
    """A pyramid of videos."""
    scheduler = made(diffusers.HeliosDMDScheduler)
    for stage in range(2):
        scheduler.set_timesteps(3, stage, device=D)
        x = start = noise(2, 3, 2, 8, 8)
        for i, t in enumerate(scheduler.timesteps):
            x = scheduler.step(
                noise(2, 3, 2, 8, 8), t, x, return_dict=False, cur_sampling_step=i, dmd_noisy_tensor=start,
                dmd_sigmas=scheduler.sigmas, dmd_timesteps=scheduler.timesteps, all_timesteps=scheduler.timesteps,
            )[0]  # fmt: skip


def policies():
    scheduler = made(diffusers.schedulers.PiflowScheduler)
    x = noise(2, 16, 4)
    for t in spaced(scheduler, 4):
        x = scheduler.step(noise(2, 16, 40), t, x, return_dict=False)[0]


def structures():
    scheduler = made(diffusers.schedulers.RFD4ProteinaScheduler)
    x, shown = noise(2, 12, 3), torch.ones(2, 12, dtype=torch.bool, device=D)
    for t in spaced(scheduler, 20):
        x = scheduler.step(noise(2, 12, 3), t, x, shown).prev_sample
    scheduler.add_noise(x, noise(2, 12, 3), torch.rand(2, device=D) * 0.9)


def given_steps():
    """Schedules that a user gives, looked up as pipelines do."""
    from diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion import retrieve_timesteps

    S = diffusers.schedulers
    for kind in (S.DDPMScheduler, S.DPMSolverMultistepScheduler, S.EulerDiscreteScheduler, S.HeunDiscreteScheduler,
                 S.LCMScheduler, S.TCDScheduler):  # fmt: skip
        tried(
            f"{kind.__name__} steps", lambda kind=kind: retrieve_timesteps(kind(), device=D, timesteps=[979, 499, 19])
        )
    for kind in (S.EulerDiscreteScheduler, S.FlowMatchEulerDiscreteScheduler):
        sigmas = [1.0, 0.6, 0.3]
        tried(f"{kind.__name__} sigmas", lambda kind=kind, s=sigmas: retrieve_timesteps(kind(), 3, D, sigmas=s))


def losses():
    """What training scripts use beside a scheduler."""
    from diffusers import training_utils as U

    S = diffusers.schedulers
    at = torch.randint(0, 1000, (4,), device=D)
    U.compute_snr(S.DDPMScheduler(), at)
    U.compute_snr(S.EulerDiscreteScheduler(), at)
    for scheme in ("logit_normal", "mode", "none"):
        u = U.compute_density_for_timestep_sampling(scheme, 4, 0.0, 1.0, 1.29, device=D)
        U.compute_loss_weighting_for_sd3(scheme, sigmas=u.view(4, 1, 1, 1))
    U.compute_loss_weighting_for_sd3("sigma_sqrt", sigmas=torch.rand(4, device=D) + 0.1)
    U.compute_dream_and_update_latents(
        lambda x, t, h: type("Out", (), {"sample": x * 0.1}), S.DDPMScheduler(), at, noise(4, 4, 8, 8),
        noise(4, 4, 8, 8), noise(4, 4, 8, 8), None,
    )  # fmt: skip
    model = torch.nn.Linear(8, 8).to(D)
    ema = U.EMAModel(model.parameters(), use_ema_warmup=True)
    ema.to(D)
    for _ in range(2):
        ema.step(model.parameters())
    ema.store(model.parameters())
    ema.copy_to(model.parameters())
    ema.restore(model.parameters())


SPECIAL = {
    "AmusedScheduler": tokens,
    "CogVideoXDPMScheduler": two_steps_back,
    "DDPMWuerstchenScheduler": expanded,
    "HeliosDMDScheduler": stages,
    "KarrasVeScheduler": corrected,
    "PiflowScheduler": policies,
    "RFD4ProteinaScheduler": structures,
    "ScoreSdeVeScheduler": variances,
    "VQDiffusionScheduler": vectors,
}


def driven(name):
    kind = getattr(diffusers.schedulers, name)
    if name in SPECIAL:
        SPECIAL[name]()
    elif name in WORDS:
        words(kind)
    elif inspect.isclass(kind) and hasattr(kind, "step"):
        scheduled(name, kind)


diffusers.logging.set_verbosity_error()
for name in sorted(dir(diffusers.schedulers)):
    if name.endswith("Scheduler"):
        tried(name, lambda name=name: driven(name))
for make in (given_steps, losses):
    tried(make.__name__, make)
