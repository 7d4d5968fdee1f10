"""Sentences of reviews: cut at breaks and sentence ends, drawn by seed, none twice."""

from niwaki.data.reviews import cut, sentences

REVIEW = 'It was a very fine film indeed. Why did nobody ever go there?<br /><br />Too short. "The end was really quite lovely!" he wrote then to me'


def test_cut_by_hand():
    assert list(cut(REVIEW)) == [
        "It was a very fine film indeed.",
        "Why did nobody ever go there?",
        'The end was really quite lovely!" he wrote then to me',
    ] or list(cut(REVIEW))[:2] == ["It was a very fine film indeed.", "Why did nobody ever go there?"]
    assert all(5 <= len(sentence.split()) <= 60 for sentence in cut(REVIEW))
    assert "Too short." not in list(cut(REVIEW))


def test_draws_follow_the_seed_and_none_comes_twice():
    reviews = [
        f"This is the sentence with number {number}. This one is in every single review." for number in range(50)
    ]
    one = sentences(reviews, 20, seed=1)
    assert one == sentences(list(reversed(reviews)), 20, seed=1) != sentences(reviews, 20, seed=2)
    assert len(set(one)) == 20 and len(sentences(reviews, 1000, seed=1)) == 51
