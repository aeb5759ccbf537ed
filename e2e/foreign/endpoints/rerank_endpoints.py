"""The calls of the libraries of Cohere and Voyage for Python that sort documents."""

import cohere
import voyageai
from cohere.core.api_error import ApiError
from outcomes import DOCUMENTS, QUERY, Refused, run


def cohere_rerank(job):
    client = cohere.ClientV2(api_key=job["key"], base_url=job["url"])
    answer = client.rerank(model=job["model"], query=QUERY, documents=DOCUMENTS, top_n=2)
    results = [[each.index, each.relevance_score] for each in answer.results]
    return {"results": results, "units": answer.meta.billed_units.search_units}


def cohere_rerank_first_version(job):
    client = cohere.Client(api_key=job["key"], base_url=job["url"])
    documents = [{"text": text} for text in DOCUMENTS]
    answer = client.rerank(
        model=job["model"], query=QUERY, documents=documents, top_n=2, return_documents=True
    )
    return [[each.index, each.relevance_score, each.document.text] for each in answer.results]


def cohere_rerank_refused(job):
    client = cohere.ClientV2(api_key=job["key"], base_url=job["url"])
    return client.rerank(model=job["model"], query="", documents=DOCUMENTS)


def voyage_client(job):
    return voyageai.Client(api_key=job["key"], base_url=job["url"] + "/v1", max_retries=0)


def voyage_rerank(job):
    answer = voyage_client(job).rerank(query=QUERY, documents=DOCUMENTS, model=job["model"], top_k=2)
    return {"results": [[each.index, each.relevance_score] for each in answer.results], "tokens": answer.total_tokens}


def voyage_rerank_documents(job):
    answer = voyage_client(job).rerank(query=QUERY, documents=DOCUMENTS, model=job["model"], truncation=True)
    return [[each.index, each.document] for each in answer.results]


def voyage_rerank_refused(job):
    return voyage_client(job).rerank(query=QUERY, documents=[], model=job["model"])


def call(function):
    def made(job):
        try:
            return function(job)
        except ApiError as error:
            raise Refused(error.status_code, error.body["message"])
        except voyageai.error.VoyageError as error:
            raise Refused(error.http_status, error.user_message)

    return made


COHERE = [cohere_rerank, cohere_rerank_first_version, cohere_rerank_refused]
VOYAGE = [voyage_rerank, voyage_rerank_documents, voyage_rerank_refused]
run({f"{each.__name__}": call(each) for each in [*COHERE, *VOYAGE]})
