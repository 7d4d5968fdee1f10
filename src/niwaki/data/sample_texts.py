"""Plain English texts that come with niwaki, for checks of models whose user gives none."""

from itertools import combinations, islice

SENTENCES = """\
The film starts slowly, but the last hour is worth the wait.
I have never been so bored in a cinema.
A warm, funny and clever story about two brothers who run a bakery.
The acting is fine, the script is not.
She sings better than she did ten years ago.
The battery lasts two days and the screen is bright enough for the garden.
It broke after a week and nobody answered my letters.
Would buy again.
Delivery took five weeks, and the box was open when it arrived.
Great value for the price, although the manual is only in German.
How far is it from Paris to Rome?
Who wrote the first novel about a voyage to the moon?
What does the abbreviation NASA stand for?
When did the Berlin Wall fall?
Why do leaves turn red in autumn?
How many bones does an adult have?
Which river flows through Vienna and Budapest?
What is the best way to clean a cast iron pan?
Can you book me a table for four people at eight tonight?
Please turn off the lights in the kitchen.
Play something quiet by a French composer.
Remind me to call my sister on Sunday.
I want to cancel my order and get my money back.
My card was declined although there is money in my account.
Where can I change the address on my invoice?
The app crashes as soon as I open the settings.
I forgot my password and the reset mail never arrives.
Is there a direct flight from Boston to Denver on Monday morning?
Show me the cheapest train to Lyon next Friday.
The central bank left interest rates unchanged on Thursday.
Shares in the chip maker fell nine percent after a weak forecast.
The home team won by two goals and moved up to third place.
A storm closed schools and roads in the north of the country.
The minister resigned after questions about a building contract.
Researchers found a new species of frog in a mountain forest.
The company will cut four hundred jobs in its oldest factory.
Voters in the capital elected a new mayor by a narrow margin.
Astronomers watched the comet break into at least six parts.
The court ruled that the tenants may stay in the house.
Oil prices rose for the third week in a row.
The patient complained of headaches and was given a mild sedative.
Water boils at a lower temperature on a high mountain.
The committee meets in room twelve every second Tuesday.
He repaired the old clock with a paper clip and some glue.
Two children were playing football behind the station.
The recipe needs three eggs, a cup of flour and a little salt.
All of the guests had left before the music stopped.
It is not the worst idea I have heard today.
Nobody knows whether the letter was ever sent.
The museum is closed on Mondays, except in July and August.
If it rains tomorrow, we will visit the library instead.
The proof is short but uses a theorem that few people know.
They moved to the coast because the rent in the city was too high.
Thanks a lot, that solved it!
no idea what you are talking about
This is the third time I ask, and I am losing my patience.
The contract ends on the last day of March unless it is renewed.
An old fisherman showed us where the path to the lighthouse begins.
The server returned an error, so the backup was started by hand.
Her second book is longer, sadder and much better than the first.
""".splitlines()


def sample_texts(count: int = 480) -> list[str]:
    """`count` different texts of one or two sentences.

    >>> len(sample_texts(100))
    100
    """
    pairs = (f"{first} {second}" for first, second in combinations(SENTENCES[::-1], 2))
    spread = islice(pairs, 0, None, 4)  # neighbours share their first sentence
    return [*SENTENCES, *islice(spread, max(0, count - len(SENTENCES)))][:count]
