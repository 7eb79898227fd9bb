"""The shop's data, the same on every run, with defects planted in it.

Every value is arithmetic on the row's number; there is no chance in it. These are the defects, and
the checks that find them. The tests read this table: the rows are those that the check counts, or
those of the days that are not typical.

table          rows                    check                    status   what is wrong
-------------  ----------------------  -----------------------  -------  ---------------------------
customers      customer_id % 40 = 3    email_given              Warning  no e-mail address
customers      customer_id % 100 = 7   email_shape              Error    an e-mail address without @
customers      customer_id % 250 = 9   known_country            Error    a country that is none: XX
customers      customer_id % 200 = 11  name_given               Warning  a name of blanks only
customers      customer_id % 300 = 19  plausible_birth_date     Warning  born in 1890
products       product_id % 60 = 5     sku_shape                Error    sku5 instead of SKU-00005
products       product_id % 70 > 67    sku_unique               Error    an article number twice
products       product_id % 90 = 8     no_test_products         Error    a test product left behind
products       product_id % 50 = 12    plain_titles             Error    HTML in the title
products       product_id % 75 = 20    lowest_price             Error    a price of nothing
products       product_id % 80 = 33    heaviest_product         Warning  grams instead of kilograms
orders         order_id % 400 = 17     quantity_in_range        Error    a negative quantity
orders         order_id % 125 = 31     amount_adds_up           Warning  quantity times price plus 1
orders         order_id % 1000 = 41    newest_order             Error    ordered in 2099
orders         order_id % 300 = 53     known_status             Warning  a status nobody knows
orders         order_id % 150 = 61     shipped_after_ordered    Warning  shipped, then ordered
orders         order_id % 500 = 71     customer_given           Warning  an order of nobody
payments       order_id % 200 = 83     never_more_than_ordered  Error    charged twice
payments       order_id % 350 = 91     no_card_numbers          Error    a card number as reference
payments       method = 'paypal'       paypal_amounts           Warning  none: a provider is silent
orders_by_day  day = '2024-03-12'      orders_come_in           Error    half of the orders are lost
orders_by_day  day = '2024-03-16'      guest_orders             Error    customers could not log in
orders_by_day  day = '2024-03-21'      usual_basket             Warning  VAT was added twice
orders_by_day  order_id DIV 5 = 3408   order_unique__dataset    Error    sent again the next day
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def customers(spark: SparkSession, count: int) -> DataFrame:
    first = _pick("customer_id", "first", "Ada", "Bela", "Chloe", "Dario", "Edith", "Femi", "Gus")
    last = _pick("customer_id", "last", "Adams", "Berg", "Costa", "Dubois", "Evans", "Fischer")
    return _numbered(spark, "customer_id", count).selectExpr(
        "customer_id",
        f"if(customer_id % 200 = 11, '  ', concat({first}, ' ', {last})) AS name",
        """CASE WHEN customer_id % 40 = 3 THEN NULL
                WHEN customer_id % 100 = 7 THEN concat('customer', customer_id, '.example.com')
                ELSE concat('customer', customer_id, '@example.com') END AS email""",
        f"""if(customer_id % 250 = 9, 'XX',
               {_pick("customer_id", "country", "DE", "FR", "NO", "ES", "PL", "IT")}) AS country""",
        f"""if(customer_id % 300 = 19, DATE '1890-01-01',
               date_add(DATE '1950-01-01', {_number("customer_id", "born", 20_000)})) AS birth_date
        """,
        f"date_add(DATE '2020-01-01', {_number('customer_id', 'joined', 1_400)}) AS joined_on",
        # Both are empty on purpose: one must be, the other has no use so far.
        "CAST(NULL AS string) AS legacy_id",
        "CAST(NULL AS string) AS vat_number",
    )


def products(spark: SparkSession, count: int, *, given_away: bool = True) -> DataFrame:
    colour = _pick("product_id", "colour", "red", "green", "blue", "black", "white")
    thing = _pick("product_id", "thing", "kettle", "lamp", "chair", "clock", "scarf", "shelf")
    title = f"concat({colour}, ' ', {thing})"
    is_free = f"{str(given_away).lower()} AND product_id % 75 = 20"
    return _numbered(spark, "product_id", count).selectExpr(
        "product_id",
        """if(product_id % 60 = 5, concat('sku', product_id),
              concat('SKU-', lpad(if(product_id % 70 = 69, product_id - 1, product_id), 5, '0'))
           ) AS sku""",
        f"if(product_id % 50 = 12, concat('<b>', {title}, '</b>'), {title}) AS title",
        f"""if(product_id % 90 = 8, 'Test',
               {_pick("product_id", "category", "home", "garden", "fashion", "office")}) AS category
        """,
        f"if({is_free}, 0.00BD, {_price('product_id')}) AS price",
        f"""(1 + {_number("product_id", "weight", 200)}) / 10D
            * if(product_id % 80 = 33, 1000, 1) AS weight_kg""",
    )


def orders(spark: SparkSession, count: int, *, customers: int, products: int) -> DataFrame:
    statuses = ("placed", "paid", "paid", "shipped", "shipped", "shipped", "returned", "cancelled")
    return (
        _numbered(spark, "order_id", count)
        .selectExpr(
            "order_id",
            f"""if(order_id % 500 = 71, NULL,
                   1L + {_number("order_id", "customer", customers)}) AS customer_id""",
            f"1L + {_number('order_id', 'product', products)} AS product_id",
            f"""if(order_id % 1000 = 41, TIMESTAMP '2099-12-31 23:59:59',
                   TIMESTAMP '2024-01-01 00:00:00'
                   + make_dt_interval({_number("order_id", "day", 90)}, 0,
                                      {_number("order_id", "minute", 1_440)})) AS ordered_at""",
            f"1 + {_number('order_id', 'quantity', 5)} AS ordered_quantity",
            f"""if(order_id % 300 = 53, 'lost in space',
                   {_pick("order_id", "status", *statuses)}) AS status""",
            f"""if({_number("order_id", "coupon", 10)} = 0,
                   concat('SAVE', 5 * (1 + {_number("order_id", "worth", 4)})), NULL) AS coupon""",
        )
        .selectExpr(
            "order_id",
            "customer_id",
            "product_id",
            "ordered_at",
            """CASE WHEN status NOT IN ('shipped', 'returned') AND order_id % 150 != 61 THEN NULL
                    ELSE ordered_at + make_dt_interval(if(order_id % 150 = 61, -3, 2))
               END AS shipped_at""",
            "if(order_id % 400 = 17, -1, 1) * ordered_quantity AS quantity",
            f"{_price('product_id')} AS unit_price",
            f"""CAST(if(order_id % 400 = 17, -1, 1) * ordered_quantity * {_price("product_id")}
                    + if(order_id % 125 = 31, 1, 0) AS decimal(12, 2)) AS amount""",
            "status",
            "coupon",
        )
    )


def payments(orders: DataFrame) -> DataFrame:
    """One payment for each order that was neither cancelled nor only placed."""
    return orders.where("status NOT IN ('placed', 'cancelled')").selectExpr(
        "1000000 + order_id AS payment_id",
        "order_id",
        "amount AS order_amount",
        "CAST(amount * if(order_id % 200 = 83, 2, 1) AS decimal(12, 2)) AS paid_amount",
        f"{_pick('order_id', 'method', 'card', 'card', 'transfer', 'invoice')} AS method",
        "if(order_id % 350 = 91, '4111111111111111', concat('P', order_id)) AS reference",
        "ordered_at + INTERVAL '5' MINUTE AS paid_at",
    )


def repaired_payments(payments: DataFrame) -> DataFrame:
    """What was charged twice is refunded, and references are those that the provider documents."""
    return payments.withColumns(
        {
            "paid_amount": F.least("paid_amount", "order_amount"),
            "reference": F.concat(F.lit("P"), F.col("order_id")),
        }
    )


# Six weeks, from Monday to Sunday.
FIRST_DAY, DAY_AFTER = "2024-02-19", "2024-04-01"


def orders_by_day(spark: SparkSession, first: str, last: str) -> DataFrame:
    """What came in on these days: more at weekends, and a little more every week."""
    usual = f"array(112, 108, 105, 109, 118, 131, 124)[weekday(day)] + {_number('day', 'luck', 9)}"
    basket = f"(1000 + {_number('order_id', 'basket', 8_000)}) / 100"
    days = spark.sql(f"SELECT explode(sequence(DATE '{first}', DATE '{last}')) AS day")
    return (
        days.selectExpr("day", f"1 + datediff(day, DATE '{FIRST_DAY}') AS number")
        .selectExpr("day", "number", f"{usual} + number DIV 4 AS orders")
        .selectExpr("day", "number", "if(day = '2024-03-12', orders DIV 2, orders) AS orders")
        .selectExpr(
            """explode(concat(sequence(1000L * number + 1, 1000L * number + orders),
                              if(number = 18, sequence(17040L, 17044L), array()))) AS order_id""",
            "day",
        )
        .selectExpr(
            "order_id",
            "day",
            # Who is not logged in orders as a guest.
            f"""if({_number("order_id", "guest", 12)} < if(day = '2024-03-16', 6, 1), NULL,
                   1L + {_number("order_id", "customer", 1_000)}) AS customer_id""",
            f"CAST({basket} * if(day = '2024-03-21', 1.19, 1) AS decimal(12, 2)) AS amount",
        )
    )


def _numbered(spark: SparkSession, column: str, count: int) -> DataFrame:
    return spark.range(1, count + 1).withColumnRenamed("id", column)


def _number(column: str, salt: str, below: int) -> str:
    """A number from 0 up to ``below`` that looks random and is the same on every run."""
    return f"pmod(hash({column}, '{salt}'), {below})"


def _pick(column: str, salt: str, *words: str) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"array({listed})[{_number(column, salt, len(words))}]"


def _price(product: str) -> str:
    return f"CAST(5 + {_number(product, 'price', 19_500)} / 100 AS decimal(10, 2))"
