"""torch_geometric: layers, pooling, transforms and helpers, trained on a small graph."""

import torch
import torch_geometric.nn as N
import torch_geometric.utils as U
from torch_geometric.data import Batch, Data

D = "cuda"
torch.manual_seed(0)
n, e = 64, 256


def graph():
    return Data(
        x=torch.randn(n, 16, device=D),
        edge_index=torch.randint(n, (2, e), device=D),
        y=torch.randint(3, (n,), device=D),
    )


data = graph()
x, edges = data.x, data.edge_index
layers = [
    N.GCNConv(16, 16),
    N.GATConv(16, 16),
    N.GATv2Conv(16, 16),
    N.SAGEConv(16, 16),
    N.GINConv(torch.nn.Linear(16, 16)),
    N.ChebConv(16, 16, K=2),
    N.TAGConv(16, 16),
    N.ARMAConv(16, 16),
    N.SGConv(16, 16),
    N.APPNP(2, 0.1),
    N.GraphConv(16, 16),
    N.TransformerConv(16, 16),
    N.EdgeConv(torch.nn.Linear(32, 16)),
    N.PNAConv(16, 16, ["mean", "max"], ["identity", "amplification"], torch.bincount(U.degree(edges[1], n).long())),
    N.ClusterGCNConv(16, 16),
    N.GENConv(16, 16),
    N.HypergraphConv(16, 16),
    N.LEConv(16, 16),
    N.ResGatedGraphConv(16, 16),
    N.SuperGATConv(16, 16, neg_sample_ratio=0.5),
    N.FAConv(16),
    N.GCN2Conv(16, 0.1),
    N.FeaStConv(16, 16),
    N.GMMConv(16, 16, dim=1, kernel_size=2),
    N.GraphUNet(16, 16, 16, depth=2),
]
for layer in layers:
    name = type(layer).__name__
    try:
        layer = layer.to(D)
        for _ in range(3):
            if name == "DynamicEdgeConv":
                out = layer(x)
            elif name == "FAConv" or name == "GCN2Conv":
                out = layer(x, x, edges)
            elif name == "GMMConv":
                out = layer(x, edges, torch.rand(e, 1, device=D))
            else:
                out = layer(x, edges)
            if out.requires_grad:
                out.sum().backward()
    except Exception as fault:
        print(name, type(fault).__name__, str(fault)[:100])
batch = torch.arange(n, device=D) // 16
for pool in (N.TopKPooling(16), N.SAGPooling(16), N.ASAPooling(16), N.EdgePooling(16)):
    try:
        pool = pool.to(D)
        for _ in range(2):
            pool(x, edges, batch=batch)
    except Exception as fault:
        print(type(pool).__name__, type(fault).__name__, str(fault)[:100])
for make in (N.global_mean_pool, N.global_max_pool, N.global_add_pool):
    make(x, batch)
for aggr in (
    N.aggr.SoftmaxAggregation(),
    N.aggr.SortAggregation(4),
    N.aggr.Set2Set(16, 2),
    N.aggr.MedianAggregation(),
    N.aggr.LSTMAggregation(16, 16),
    N.aggr.GRUAggregation(16, 16),
    N.aggr.EquilibriumAggregation(16, 16, [16]),
):
    try:
        aggr.to(D)(x, batch)
    except Exception as fault:
        print(type(aggr).__name__, type(fault).__name__, str(fault)[:100])
calls = {
    "to_dense_batch": lambda: U.to_dense_batch(x, batch),
    "to_dense_adj": lambda: U.to_dense_adj(edges, batch),
    "dropout_edge": lambda: U.dropout_edge(edges),
    "dropout_node": lambda: U.dropout_node(edges),
    "negative_sampling": lambda: U.negative_sampling(edges, n),
    "batched_negative_sampling": lambda: U.batched_negative_sampling(edges, batch),
    "remove_self_loops": lambda: U.remove_self_loops(edges),
    "add_self_loops": lambda: U.add_self_loops(edges),
    "add_remaining_self_loops": lambda: U.add_remaining_self_loops(edges),
    "coalesce": lambda: U.coalesce(edges),
    "subgraph": lambda: U.subgraph(torch.arange(20, device=D), edges),
    "k_hop_subgraph": lambda: U.k_hop_subgraph(3, 2, edges),
    "degree": lambda: U.degree(edges[0]),
    "softmax": lambda: U.softmax(x, torch.sort(batch).values),
    "unbatch": lambda: U.unbatch(x, batch),
    "to_undirected": lambda: U.to_undirected(edges),
    "is_undirected": lambda: U.is_undirected(edges),
    "contains_isolated_nodes": lambda: U.contains_isolated_nodes(edges),
    "get_laplacian": lambda: U.get_laplacian(edges, normalization="sym"),
    "homophily": lambda: U.homophily(edges, data.y),
    "scatter": lambda: U.scatter(x, batch),
    "one_hot": lambda: U.one_hot(batch),
    "index_to_mask": lambda: U.index_to_mask(batch),
    "mask_to_index": lambda: U.mask_to_index(batch > 1),
    "to_torch_csr": lambda: U.to_torch_csr_tensor(edges),
    "assortativity": lambda: U.assortativity(edges),
    "mask_feature": lambda: U.mask_feature(x),
    "add_random_edge": lambda: U.add_random_edge(edges, num_nodes=n),
    "dense_to_sparse": lambda: U.dense_to_sparse(torch.rand(8, 8, device=D).round()),
    "dropout_path": lambda: U.dropout_path(edges),
    "knn": lambda: N.pool.knn_graph(x, 4),
    "radius": lambda: N.radius_graph(x, 2.0),
    "fps": lambda: N.fps(x),
    "batch": lambda: Batch.from_data_list([graph(), graph()]).to_data_list(),
    "label_prop": lambda: N.LabelPropagation(2, 0.5)(data.y, edges),
    "correct_smooth": lambda: N.CorrectAndSmooth(2, 0.5, 2, 0.5).correct(
        torch.rand(n, 3, device=D), data.y[:10], torch.arange(n, device=D) < 10, edges
    ),
}
for name, call in calls.items():
    try:
        call()
    except Exception as fault:
        print(name, type(fault).__name__, str(fault)[:100])
models = [
    N.GAE(N.GCNConv(16, 8)),
    N.VGAE(N.GCNConv(16, 8)),
    N.LightGCN(n, 8, 2),
    N.DeepGraphInfomax(
        16,
        N.GCNConv(16, 16),
        lambda z, *a, **k: z.mean(0).sigmoid(),
        lambda x, *a, **k: (x[torch.randperm(n, device=D)], edges),
    ),
]
for model in models:
    try:
        model = model.to(D)
        kind = type(model).__name__
        for _ in range(2):
            if kind == "GAE":
                model.recon_loss(model.encode(x, edges), edges).backward()
            elif kind == "LightGCN":
                model.recommendation_loss(model(edges)[:32], model(edges)[32:64], edges.unique()).backward()
            elif kind == "DeepGraphInfomax":
                model.loss(*model(x, edges)).backward()
            elif kind == "Node2Vec":
                model.loss(*(w.to(D) for w in model.sample(torch.arange(8))))
    except Exception as fault:
        print(type(model).__name__, type(fault).__name__, str(fault)[:100])
