"""The Role Interaction Layer: tokens transformed by the roles that their context gives
(weissenborn2019).

    c_t     = LSTM(e)_t                           what the sentence says of token t
    r_dense = tanh(W c_t + b)                     dense assignment, R roles
    r       = assignment(u_1 r_dense .. u_R r_dense)    softmax, or one-hot by Gumbel-softmax
    e~_t    = sum_i r_ti U_i e_t  (+ e_t)         weissenborn2019 eq. 5, 7
            = U_o [(U_r r_t) * (U_e e_t)] + e_t   weissenborn2019 eq. 8, the rank-1 approximation
            = e_t + U r_t                         the contextualised baseline

The layer works on any packed sequence of vectors (`model.layers.packing`): N tokens, D width, R
roles.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from model.kernels.dropout import Dropout
from model.kernels.role_sum import role_sum
from model.layers.packing import Layout
from model.layers.role_context import ContextState, ConvolutionContext, LSTMContext

COMBINATIONS = ("full", "rank_1", "added")


class Roles:
    """How tokens are given roles and transformed by them.

    Args:
        number: R.
        assignment: scores to roles, such as `Softmax`, or `Gumbel` for one role a token; None for
            the dense assignment.
        combination: `full`, a matrix U_i a role; `rank_1`, their approximation by three matrices;
            `added`, the contextualised baseline.
        residual: whether the token itself is added; only `full` can do without.
        window: tokens that a convolution in place of the LSTM covers.
        inclusive: whether a target token's role depends on the token itself, or on those before it
            alone. The text has the latter in a formula (weissenborn2019 section 3.1); the former is
            the reading.

    Raises:
        ValueError: no role; an unknown combination, or one that needs the residual without it; a
            window that is even; an assignment that is no module.
    """

    def __init__(
        self,
        number: int,
        assignment: nn.Module | None = None,
        combination: str = "full",
        residual: bool = True,
        window: int | None = None,
        inclusive: bool = True,
    ) -> None:
        if number < 1:
            raise ValueError(f"roles.number: a layer needs at least one role, not {number}.")
        if combination not in COMBINATIONS:
            raise ValueError(
                f"roles.combination: {', '.join(COMBINATIONS)} are known, not '{combination}'."
            )
        if combination != "full" and not residual:
            raise ValueError(
                f"roles.residual: combination '{combination}' always adds the token: take it away."
            )
        if window is not None and (window < 1 or window % 2 == 0):
            raise ValueError(
                f"roles.window: a convolution of width {window} has no token in its middle: give a "
                f"positive odd number."
            )
        if assignment is not None and not isinstance(assignment, nn.Module):
            raise ValueError(
                f"roles.assignment: '{assignment}' is no part: name one by its path, such as "
                f"model.normalizers.softmax:Softmax, or none for dense roles."
            )
        self.number, self.assignment, self.combination = number, assignment, combination
        self.residual, self.window, self.inclusive = residual, window, inclusive


class RoleInteraction(nn.Module):
    """The layer for one side (weissenborn2019 eq. 4, 7).

    Args:
        width: D.
        roles: see there.
        causal: whether no token's role may depend on later ones, as on the target side.
        dropout: probability, on the roles.
    """

    def __init__(self, width: int, roles: Roles, causal: bool, dropout: float) -> None:
        super().__init__()
        self.context: LSTMContext | ConvolutionContext
        if roles.window is None:
            self.context = LSTMContext(width, causal, roles.inclusive)
        else:
            self.context = ConvolutionContext(width, roles.window, causal, roles.inclusive)
        self.dense = nn.Linear(width, roles.number)
        nn.init.xavier_uniform_(self.dense.weight)
        nn.init.zeros_(self.dense.bias)
        self.assignment = copy.deepcopy(roles.assignment)
        self.scores = None
        if self.assignment is not None:
            self.scores = nn.Linear(roles.number, roles.number, bias=False)
            nn.init.xavier_uniform_(self.scores.weight)
        self.dropout = Dropout(dropout)
        combinations = {"full": FullRoles, "rank_1": RankOneRoles, "added": AddedRoles}
        self.combine = combinations[roles.combination](width, roles.number)
        self.residual = roles.residual

    def forward(self, e: Tensor, layout: Layout) -> Tensor:
        """Tokens e (N, D) to e~ (N, D)."""
        return self._transform(e, self.context(e, layout))

    def step(self, e: Tensor, state: ContextState) -> tuple[Tensor, ContextState]:
        """Newest tokens e (N, D) of N hypotheses to e~, and the state to go on from."""
        context, state = self.context.step(e, state)
        return self._transform(e, context), state

    def assign(self, e: Tensor, layout: Layout) -> Tensor:
        """Roles (N, R) of tokens e (N, D)."""
        return self._assign(self.context(e, layout))

    def _assign(self, context: Tensor) -> Tensor:
        dense: Tensor = self.dense(context).tanh()
        if self.assignment is None or self.scores is None:
            return dense
        scores = self.scores(dense)
        # Roles are read by a person: no reduced precision here, where it would save nothing.
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        roles: Tensor = self.assignment(scores)
        return roles

    def _transform(self, e: Tensor, context: Tensor) -> Tensor:
        changed: Tensor = self.combine(self.dropout(self._assign(context)), e)
        return changed + e if self.residual else changed


class FullRoles(nn.Module):
    """sum_i r_i U_i e (weissenborn2019 eq. 5)."""

    def __init__(self, width: int, number: int) -> None:
        super().__init__()
        self.transforms = nn.Parameter(torch.empty(number, width, width))
        for transform in self.transforms.unbind():
            nn.init.xavier_uniform_(transform)

    def forward(self, roles: Tensor, e: Tensor) -> Tensor:
        """Roles (N, R) and tokens e (N, D) to (N, D)."""
        return role_sum(roles, e, self.transforms)


class RankOneRoles(nn.Module):
    """U_o [(U_r r) * (U_e e)] (weissenborn2019 eq. 8)."""

    def __init__(self, width: int, number: int) -> None:
        super().__init__()
        self.of_roles = _matrix(number, width)
        self.of_token = _matrix(width, width)
        self.output = _matrix(width, width)

    def forward(self, roles: Tensor, e: Tensor) -> Tensor:
        """Roles (N, R) and tokens e (N, D) to (N, D)."""
        transformed: Tensor = self.output(self.of_roles(roles) * self.of_token(e))
        return transformed


class AddedRoles(nn.Module):
    """U r, which does not multiply the token (weissenborn2019 section 4, `+ contextualized`)."""

    def __init__(self, width: int, number: int) -> None:
        super().__init__()
        self.of_roles = _matrix(number, width)

    def forward(self, roles: Tensor, e: Tensor) -> Tensor:
        """Roles (N, R) to (N, D); the tokens e (N, D) have no part in it."""
        transformed: Tensor = self.of_roles(roles)
        return transformed


def _matrix(inputs: int, outputs: int) -> nn.Linear:
    """A linear map without a bias, drawn as Glorot and Bengio (2010) do."""
    linear = nn.Linear(inputs, outputs, bias=False)
    nn.init.xavier_uniform_(linear.weight)
    return linear
