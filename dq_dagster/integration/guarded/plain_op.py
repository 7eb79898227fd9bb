"""The parts of an asset's definition that is made of one function, to make another one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import dagster as dg

from dq_dagster.errors import DeclarationError
from dq_dagster.integration.internals import disable_dagster_warnings


@dataclass(frozen=True, slots=True)
class PlainOp:
    """An asset, the function that builds it, and how the function gets what it needs."""

    asset: dg.AssetsDefinition
    spec: dg.AssetSpec
    op: dg.OpDefinition

    @classmethod
    def of(cls, asset: Any) -> PlainOp:
        """Raises DeclarationError if it is not one asset that one function builds."""
        if not isinstance(asset, dg.AssetsDefinition) or not asset.is_executable:
            raise DeclarationError.of(
                f"{asset!r} cannot be guarded: give the definition of an asset that Dagster builds."
            )
        name = ", ".join(sorted(key.to_user_string() for key in asset.keys))
        if len(asset.keys) != 1 or not isinstance(asset.node_def, dg.OpDefinition):
            raise DeclarationError.of(
                f"'{name}' cannot be guarded: only an asset of its own that one function builds "
                "can be, no graph and no multi-asset. Guard an asset that takes it as its input."
            )
        [spec] = asset.specs
        found = cls(asset, spec, asset.node_def)
        if found.output.dagster_type.is_nothing:
            raise DeclarationError.of(
                f"'{name}' cannot be guarded, as its function returns nothing: let it return its "
                "rows as a DataFrame."
            )
        return found

    @property
    def output(self) -> Any:
        known = self.asset.node_keys_by_output_name
        [output] = [one for one in self.op.output_defs if one.name in known]
        return output

    @property
    def io_manager_key(self) -> str:
        return str(self.output.io_manager_key)

    @property
    def function(self) -> Callable[..., Any]:
        compute: Any = self.op.compute_fn
        function: Callable[..., Any] = compute.decorated_fn
        return function

    @property
    def takes_context(self) -> bool:
        compute: Any = self.op.compute_fn
        return bool(compute.has_context_arg())

    @property
    def keys(self) -> AbstractSet[dg.AssetKey]:
        """The assets that it is made from."""
        return set(self.asset.keys_by_input_name.values())

    def require_type(self, value: Any) -> None:
        """Raises if the value is not of the type that the asset declares."""
        declared = self.output.dagster_type
        if declared.is_any:
            return
        check = dg.check_dagster_type(declared, value)
        if not check.success:
            raise dg.Failure(
                f"'{self.spec.key.to_user_string()}' returned what it does not declare: "
                f"{check.description}",
                allow_retries=False,
            )

    def _ins(self) -> tuple[dict[str, dg.AssetIn], list[dg.AssetDep]]:
        """The inputs that the function takes, and the assets that it only comes after."""
        mappings = {dep.asset_key: dep.partition_mapping for dep in self.spec.deps}
        ins: dict[str, dg.AssetIn] = {}
        deps: list[dg.AssetDep] = []
        for name, key in self.asset.keys_by_input_name.items():
            given = self.op.input_def_named(name)
            mapping = mappings.get(key)
            if given.dagster_type.is_nothing:
                deps.append(dg.AssetDep(key, partition_mapping=mapping))
                continue
            ins[name] = dg.AssetIn(
                key=key,
                metadata=given.metadata,
                partition_mapping=mapping,
                dagster_type=given.dagster_type,
                input_manager_key=given.input_manager_key,
            )
        return ins, deps

    def _config_fields(self) -> dict[str, Any] | None:
        """The fields of a configuration that is declared as a dict; None if there is none."""
        schema: Any = self.op.config_schema
        fields = getattr(schema.as_field().config_type, "fields", None) if schema else None
        return dict(fields) if fields else None

    def multi_asset(
        self,
        function: Callable[..., Any],
        *,
        outs: Mapping[str, dg.AssetOut],
        deps: Sequence[dg.AssetDep],
        check_specs: Sequence[dg.AssetCheckSpec],
        resource_defs: Mapping[str, Any],
        internal_deps: Mapping[str, set[dg.AssetKey]],
    ) -> dg.AssetsDefinition:
        """A definition that gets what this one gets, and gives out all of these."""
        ins, own_deps = self._ins()
        compute: Any = self.op.compute_fn
        by_parameter = {one.name for one in compute.get_resource_args()}
        upstream = {*self.asset.keys_by_input_name.values(), *(dep.asset_key for dep in deps)}
        inside = {name: set(upstream) for name in outs} | dict(internal_deps)
        with disable_dagster_warnings():
            return dg.multi_asset(
                name=self.op.name,
                outs=dict(outs),
                ins=ins,
                deps=[*own_deps, *deps],
                description=self.op.description,
                config_schema=None if compute.has_config_arg() else self._config_fields(),
                required_resource_keys=set(self.op.required_resource_keys) - by_parameter,
                internal_asset_deps=inside,
                partitions_def=self.asset.partitions_def,
                hooks=self.asset.hook_defs,
                backfill_policy=self.asset.backfill_policy,
                op_tags=self.op.tags,
                can_subset=True,
                resource_defs=resource_defs,
                retry_policy=self.op.retry_policy,
                check_specs=[*self.asset.check_specs, *check_specs],
                pool=self.op.pool,
            )(function)
