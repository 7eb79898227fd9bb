"""The shop's rules: those written in Python, and those from the YAML files beside this one."""

from __future__ import annotations

import dq_dagster as dq
from examples.shop import assets

_products = dq.RuleSet(
    asset=assets.products,
    rules=[
        dq.RecordCountInRange(min=50, soft_max=10_000),
        dq.ColumnCountInRange(
            min=6, max=6, description="Nobody added or removed a column unannounced."
        ),
        dq.ColumnNotEmpty(
            name="product_complete", columns=["product_id", "sku", "title", "category", "price"]
        ),
        dq.ColumnValuesMatch(
            name="sku_shape",
            columns=["sku"],
            pattern=r"SKU-\d{5}",
            blocking=False,
            description="Article numbers are SKU- and five digits.",
        ),
        dq.ColumnUnique(
            name="sku_unique",
            columns=["sku"],
            blocking=False,
            description="No two products share an article number.",
        ),
        dq.ColumnValuesNotInSet(
            name="no_test_products",
            columns=["category"],
            values=["test", "demo", "dummy"],
            ignore_case=True,
            blocking=False,
            description="No test product is on sale.",
        ),
        dq.ColumnValuesNotMatch(
            name="plain_titles",
            columns=["title"],
            pattern=r"<[a-z/]+>",
            match="search",
            blocking=False,
            description="Titles are plain text, without HTML.",
            tags=["catalogue"],
        ),
        dq.ColumnMinInRange(
            name="lowest_price",
            columns=["price"],
            min=0.01,
            # Blocking, as rules are unless they say otherwise: partners get no such price list.
            description="Nothing is given away.",
            tags=["money"],
        ),
        dq.ColumnMaxInRange(
            name="heaviest_product",
            columns=["weight_kg"],
            soft_max=30,
            max=50_000,
            blocking=False,
            description="Products can be sent as parcels. Far heavier ones are weighed in grams.",
            owners=["catalogue-team@example.com"],
        ),
        dq.ColumnStddevInRange(
            name="price_spread",
            columns=["price"],
            soft_min=20,
            soft_max=100,
            description="Prices differ as much as they used to.",
        ),
    ],
)

_price_list = dq.RuleSet(
    asset=assets.price_list,
    rules=[
        dq.RecordCountInRange(min=1),
        dq.ColumnNotEmpty(name="priced", columns=["price"], description="Everything has a price."),
    ],
)

_orders = dq.RuleSet(
    asset=assets.orders,
    rules=[
        dq.RecordCountInRange(min=1),
        dq.ColumnNotEmpty(
            name="order_complete", columns=["order_id", "product_id", "ordered_at", "amount"]
        ),
        dq.UniqueKey(
            name="one_line_per_product",
            columns=["order_id", "product_id"],
            description="An order names each product once.",
        ),
        dq.ColumnMostFrequentInSet(
            name="most_orders_are_shipped",
            columns=["status"],
            values=["shipped"],
            description="More orders are shipped than anything else.",
        ),
        dq.ColumnMedianInRange(
            name="usual_order",
            columns=["amount"],
            soft_min=100,
            soft_max=500,
            description="Half of the orders cost more, half of them less.",
        ),
        dq.ColumnNotEmpty(
            name="customer_given",
            columns=["customer_id"],
            threshold=dq.AtMost(type="proportion", soft_max=0, max=0.01),
            blocking=False,
            description="Orders belong to a customer.",
        ),
        dq.ColumnValuesInRange(
            name="quantity_in_range",
            columns=["quantity"],
            min=1,
            soft_max=20,
            max=100,
            blocking=False,
            description="Somebody orders at least one and rarely more than twenty.",
        ),
        dq.ColumnMaxInRange(
            name="newest_order",
            columns=["ordered_at"],
            max="2024-04-01",
            blocking=False,
            description="No order comes from the future.",
            quality_dimension="timeliness",
        ),
        dq.ColumnValuesInSet(
            name="known_status",
            columns=["status"],
            values=["placed", "paid", "shipped", "returned", "cancelled"],
            threshold=dq.AtLeast(type="proportion", soft_min=1, min=0.99),
            blocking=False,
            description="The status is one that the shop system documents.",
        ),
        dq.ColumnAvgInRange(
            name="usual_amounts",
            columns=["amount", "unit_price"],
            min=10,
            max=1_000,
            description="Averages of amount and price, each judged on its own.",
        ),
        dq.RowExpectation(
            name="amount_adds_up",
            expectation="amount = quantity * unit_price",
            threshold=dq.AtMost(type="proportion", soft_max=0.005, max=0.02),
            blocking=False,
            description="The amount is quantity times price; rounding may break a few.",
            quality_dimension="consistency",
            tags=["money"],
        ),
        dq.RowExpectation(
            name="shipped_after_ordered",
            expectation="shipped_at >= ordered_at",
            where="shipped_at IS NOT NULL",
            threshold=dq.AtMost(type="count", soft_max=0, max=100),
            blocking=False,
            description="Nothing is shipped before it is ordered.",
            quality_dimension="timeliness",
        ),
        dq.ColumnEmpty(
            name="coupons_are_rare",
            columns=["coupon"],
            threshold=dq.AtLeast(type="proportion", soft_min=0.8),
            description="At least four of five orders come without a coupon.",
        ),
    ],
)

_daily_revenue = dq.RuleSet(
    asset=assets.daily_revenue,
    rules=[
        dq.RecordCountInRange(
            name="days_of_the_quarter",
            min=80,
            soft_max=92,
            description="A quarter has at most 92 days, and we sell on nearly all.",
        ),
        dq.ColumnMinInRange(
            name="quietest_day",
            columns=["orders"],
            soft_min=10,
            blocking=False,
            description="Every day has some orders. The stray day of 2099 has hardly any.",
        ),
        dq.ColumnSumInRange(
            name="revenue_of_the_quarter",
            columns=["revenue"],
            min=1,
            description="We earned something.",
            tags=["money"],
        ),
    ],
)

_settlements = dq.RuleSet(
    asset=assets.settlements,
    rules=[
        dq.RecordCountInRange(min=1),
        dq.ColumnValuesInRange(
            name="nothing_overpaid",
            columns=["still_open"],
            min=0,
            where="amount >= 0",
            description="No order has been paid more than it costs.",
            tags=["money"],
        ),
    ],
)

# The rules of the file and those below become one set.
_orders_by_day = dq.RuleSet(
    asset=assets.orders_by_day,
    rules=[
        *assets.RULE_FILES["orders_by_day"].rules,
        dq.ColumnUnique(
            name="order_unique",
            columns=["order_id"],
            scope="both",
            blocking=False,
            description="No order comes twice, neither on one day nor on two.",
        ),
        dq.ColumnAvgTypical(
            name="usual_basket",
            columns=["amount"],
            learning_period=14,
            lookback_window=28,
            soft_iqr_factor=2,
            iqr_factor=5,
            blocking=False,
            description="On average, customers spend what they spent in the four weeks before.",
            quality_dimension="accuracy",
            tags=["money"],
        ),
    ],
)

RULE_SETS = [
    assets.RULE_FILES["customers"],
    _products,
    _price_list,
    _orders,
    _orders_by_day,
    _daily_revenue,
    _settlements,
]

# Judged while their assets are built, not by checks of their own.
IN_FLIGHT = [assets.RULE_FILES["payments"]]
