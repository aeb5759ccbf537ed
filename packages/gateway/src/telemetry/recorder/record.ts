/** Requests as the recorder stores them and the admin API lists them. */

/**
 * How a request ended, the first of these that holds: the gateway or a backend `failed`, a limit was over (`limited`), a
 * policy or no route refused it (`denied`), its answer spoke against the health of an endpoint that was `evicted` then, the client left
 * (`aborted`), it took longer than `slow` says.
 */
export type RecordOutcome = 'passed' | 'denied' | 'limited' | 'failed' | 'evicted' | 'aborted' | 'slow'

export const RECORD_OUTCOMES: readonly RecordOutcome[] = [
  'passed',
  'denied',
  'limited',
  'failed',
  'evicted',
  'aborted',
  'slow',
]

/** The phase of a step; the same words as in traces. */
export type RecordPhase = 'gateway' | 'route' | 'backend' | 'response'

/** Data that a step decided by: strings, numbers, lists and objects of those. Never secrets. */
export type RecordValues = { readonly [name: string]: unknown }

/** Why a request did not pass. */
export interface RecordReason {
  /** As access logs and metrics say it: `RateLimit`, `JwtAuth`, `NotFound`, `UpstreamFailure`. */
  readonly kind: string
  /** Name of the step that stopped it, as in traces (`rateLimit`); null where it was no step. */
  readonly policy: string | null
  readonly phase: RecordPhase | null
  /** The cause for programs: `rate_limited`, `jwt_refused`; the kind in lower case when nothing finer is known. */
  readonly code: string
  /** The values that decided. */
  readonly values: RecordValues
}

/** The recorded fields of a model call. */
export interface RecordedLlm {
  readonly operation: string | null
  readonly provider: string
  readonly providerName: string
  readonly requestModel: string
  readonly responseModel: string
  readonly finishReason: string
  readonly streaming: boolean
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  readonly reasoningTokens: number | null
  /** Some of the usage was never reported. */
  readonly isEstimated: boolean
  /** Milliseconds from the start of the request; of streams only. */
  readonly timeToFirstToken: number | null
  /** In order, `{ provider, outcome }`: the status or the code of what went wrong. */
  readonly attempts: readonly { readonly provider: string; readonly outcome: string }[]
}

/** The recorded fields of an MCP message. */
export interface RecordedMcp {
  readonly method: string
  readonly target: string
  readonly kind: 'tool' | 'prompt' | 'resource' | 'task' | null
  /** The name of the tool, prompt, resource or task that the target itself uses. */
  readonly name: string | null
  readonly session: string
  readonly version: string
  readonly outcome: 'ok' | 'error' | 'tool_error' | 'denied' | 'unavailable' | 'cancelled' | null
  readonly errorCode: number | null
  readonly errorMessage: string
  /** Milliseconds that targets took. */
  readonly targetMillis: number | null
}

/** One line of a list of requests. */
export interface RequestSummary {
  /** The id of the record; refusals carry it as `x-portico-decision`. */
  readonly id: string
  /** `x-request-id`; null where the request had none that counts. */
  readonly requestId: string | null
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  /** Microseconds until everything was over. */
  readonly took: number
  /** Microseconds until the head of a backend's answer was there; null without one. `slow` is about this, or `took`. */
  readonly answeredAfter: number | null
  /** `http`, `llm`, `mcp`, `tcp`, `tls`. */
  readonly protocol: string
  /** Null, as host, path and version, where a connection or message never was a request. */
  readonly method: string | null
  readonly host: string | null
  /** Path and query; values of parameters that look like credentials are hidden. */
  readonly path: string | null
  /** `HTTP/1.1`, `HTTP/2`. */
  readonly version: string | null
  /** 0 when there was no answer. */
  readonly status: number
  readonly outcome: RecordOutcome
  readonly isSlow: boolean
  /** Null where a backend answered, and nothing stood in the way. */
  readonly reason: RecordReason | null
  readonly error: string | null
  /** `ip:port` of the client. */
  readonly source: string | null
  readonly bind: string | null
  readonly listener: string | null
  readonly route: string | null
  readonly backend: string | null
  /** `host:port` of the last attempt. */
  readonly endpoint: string | null
  /** How many calls to the backend were made. */
  readonly attempts: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Generation of the config that the worker ran when it ended. */
  readonly generation: number
  readonly worker: string
  /** The name of the API key in the config, the name of a user, or `sub` of a token. */
  readonly key: string | null
  readonly llm: RecordedLlm | null
  readonly mcp: RecordedMcp | null
}

export interface RecordedStep {
  /** Its name in traces: `jwtAuthentication`. */
  readonly step: string
  readonly phase: RecordPhase
  /** `passed`: applied, or had nothing to do. `notReached`: stands behind the one that stopped the request. */
  readonly outcome: 'passed' | 'stopped' | 'notReached'
  /** The status of the reply, if the step stopped the request. */
  readonly status: number | null
  /** `RateLimit`; null if the step did not stop the request. */
  readonly reason: string | null
  readonly values: RecordValues
  /** Microseconds from the start; null where nobody looked. */
  readonly at: number | null
}

export interface RecordedAttempt {
  /** `host:port`, or the name of the backend where none could be found. */
  readonly target: string
  readonly status: number | null
  readonly error: string | null
  /** Microseconds from the start of the request. */
  readonly from: number | null
  readonly to: number | null
}

/** Names in small letters; several lines of one name are a list; credentials are hidden. */
export type RecordedHeaders = { readonly [name: string]: string | readonly string[] }

/** How a request stood behind the policies of gateway and route, before those of the backend. */
export interface ChangedRequest {
  /** Path and query; null where they stayed. */
  readonly path: string | null
  /** All of them: without credentials that policies took, with what policies set; null where they stayed. */
  readonly headers: RecordedHeaders | null
}

/** A body that a route asked to keep. */
export interface RecordedBody {
  /** Text as it is, anything else in Base64. */
  readonly text: string | null
  readonly base64: string | null
  /** Not all of it is kept. */
  readonly isCut: boolean
}

/** One record whole. Heads, steps and attempts are there for what did not simply pass, and for what was sampled. */
export interface RequestRecord extends RequestSummary {
  /** Keys of the config's objects, to find them in a dump of it. */
  readonly keys: { readonly listener: string | null; readonly route: string | null; readonly backend: string | null }
  readonly scheme: 'http' | 'https'
  /** The server name that the client asked for by TLS. */
  readonly sni: string | null
  readonly isSampled: boolean
  /** Null where only the summary is kept. */
  readonly steps: readonly RecordedStep[] | null
  readonly calls: readonly RecordedAttempt[] | null
  /** As they came. */
  readonly requestHeaders: RecordedHeaders | null
  /** The request after all policies; null when they changed nothing that is recorded. */
  readonly afterPolicies: ChangedRequest | null
  /** The headers of the response to the client. */
  readonly responseHeaders: RecordedHeaders | null
  readonly requestBody: RecordedBody | null
  readonly responseBody: RecordedBody | null
  /** Results of policies, by the names of the variables of expressions: `jwt`, `apiKey`, `basicAuth`, `extauthz`, `metadata`. */
  readonly variables: RecordValues | null
}

/** A request as lists and streams have it. */
export interface ListedRequest extends RequestSummary {
  /** The sentence of its explanation, as far as the record alone tells; only with `?headline=true`. */
  readonly headline?: string
}

/** Answer of `GET /api/requests`: newest first. */
export interface RequestList {
  readonly requests: readonly ListedRequest[]
  /** For `?before=`; null where nothing older is kept. */
  readonly next: string | null
}

/** Data of one message of `GET /api/requests/stream`: oldest first. */
export interface RequestBatch {
  readonly requests: readonly ListedRequest[]
  /** Matched too, and were left out so that the stream keeps up. */
  readonly omitted: number
}

/** Answer of `GET /api/state`. */
export interface GatewayState {
  readonly version: string
  readonly generation: number
  /** When that generation went live, in milliseconds since 1970. */
  readonly since: number | null
  readonly startedAt: number
  /** The source of the config; empty without a file. */
  readonly source: string
  /** Problems of the last reload, if it was rejected; empty when the active config is the one read last. */
  readonly problems: readonly StateProblem[]
  readonly workers: number
  readonly restarts: number
  readonly isDraining: boolean
  /** Over the last ten seconds. */
  readonly requestsPerSecond: number
  readonly recorder: {
    readonly isEnabled: boolean
    /** Records in memory, and the bytes that they take of those that they may. */
    readonly records: number
    readonly bytes: number
    readonly maxBytes: number
    /** When the oldest began. */
    readonly oldest: number | null
    /** Size of the folder of segments; null when nothing is written. */
    readonly diskBytes: number | null
  }
}

export interface StateProblem {
  /** `file:line:column` and what is wrong, as the log has it. */
  readonly text: string
}
