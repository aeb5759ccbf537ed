import type { CacheSearch } from '../../records/cache-outcome.ts'
import type { Cost } from '../../records/cost.ts'
import type { AttemptCharge, UsedUnits } from '../../records/llm-record.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import type { RecordedTargetFailure } from '../../records/mcp-record.ts'

/** Requests as the recorder stores them and the admin API lists them. */

/**
 * The outcome of a request, the first that applies: the gateway or a backend `failed`; a rate limit was exceeded
 * (`limited`); a policy denied it or no route matched (`denied`); its response made the gateway evict the endpoint
 * (`evicted`); the client disconnected (`aborted`); it took longer than the setting `slow`.
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
  /** The reason in access logs and metrics: `RateLimit`, `JwtAuth`, `NotFound`, `UpstreamFailure`. */
  readonly kind: string
  /** The name of the step that stopped the request, as in traces (`rateLimit`); null if no step did. */
  readonly policy: string | null
  readonly phase: RecordPhase | null
  /** The cause for programs: `rate_limited`, `jwt_refused`; the kind in lower case when nothing finer is known. */
  readonly code: string
  /** The values behind the decision. */
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
  /** Whether a part of the usage is an estimate. */
  readonly isEstimated: boolean
  /** Milliseconds from the start of the request; null unless the response is a stream. */
  readonly timeToFirstToken: number | null
  /**
   * The attempts in order; `outcome` is the status or the code of the failure. `charge` is the usage that a provider
   * reported before the request moved on to another one.
   */
  readonly attempts: readonly {
    readonly provider: string
    readonly outcome: string
    readonly charge?: AttemptCharge
  }[]
  /** Images, characters, seconds of sound and searches; present for calls that are not, or not only, billed by tokens. */
  readonly units?: UsedUnits
  /** The cost of the call; absent without a `prices` policy. */
  readonly cost?: Cost
  /** The outcome of the response cache; absent without a cache. */
  readonly cache?: RecordedCache
  /** The model that the client named, in backends that route by it. */
  readonly clientModel?: string
  /** How the model was chosen: targets that were passed over and why, and the chosen one. */
  readonly modelChoice?: string
}

/** The outcome of the response cache for a call, and the tokens and cost that an answer from it saved. */
export interface RecordedCache {
  readonly status: 'hit' | 'miss' | 'bypass'
  /** The age of an answer from the cache. */
  readonly ageSeconds?: number
  /** Why the call bypassed the cache: `temperature`, `no-identity`. */
  readonly reason?: string
  /** The search for a similar request. */
  readonly search?: CacheSearch & {
    /** The usage of the embeddings. */
    readonly charges?: readonly AttemptCharge[]
  }
  readonly savedInputTokens?: number | null
  readonly savedOutputTokens?: number | null
  /** Null when the price is unknown. */
  readonly savedNanoDollars?: number | null
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
  /** How a target failed; null when no target failed. */
  readonly failure: RecordedTargetFailure | null
  /** The time that MCP targets took, in milliseconds. */
  readonly targetMillis: number | null
}

/** One line of a list of requests. */
export interface RequestSummary {
  /** The id of the record; responses to denied requests carry it as `x-portico-decision`. */
  readonly id: string
  /** The request id; null when the request has no trusted id. */
  readonly requestId: string | null
  /** The start of the request, in milliseconds since 1970. */
  readonly at: number
  /** Microseconds until the end of the request. */
  readonly took: number
  /** Microseconds until the head of the backend's response; null without a response. `slow` compares this, or `took`. */
  readonly answeredAfter: number | null
  /** `http`, `llm`, `mcp`, `tcp`, `tls`. */
  readonly protocol: string
  /** Null for connections and malformed messages, like host, path and version. */
  readonly method: string | null
  readonly host: string | null
  /** Path and query; parameter values that look like credentials are redacted. */
  readonly path: string | null
  /** `HTTP/1.1`, `HTTP/2`. */
  readonly version: string | null
  /** 0 without a response. */
  readonly status: number
  readonly outcome: RecordOutcome
  readonly isSlow: boolean
  /** Null when a backend responded normally. */
  readonly reason: RecordReason | null
  readonly error: string | null
  /**
   * The delays and aborts that rehearsals applied to the request, such as `delay 200ms` or `abort 503`; absent without
   * any.
   */
  readonly rehearsal?: readonly string[]
  /** `ip:port` of the client. */
  readonly source: string | null
  readonly bind: string | null
  readonly listener: string | null
  readonly route: string | null
  readonly backend: string | null
  /** `host:port` of the last attempt. */
  readonly endpoint: string | null
  /** The number of calls to the backend. */
  readonly attempts: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** The config generation that admitted the request. */
  readonly generation: number
  readonly worker: string
  /** The name of the API key in the config, the name of a user, or `sub` of a token. */
  readonly key: string | null
  readonly llm: RecordedLlm | null
  readonly mcp: RecordedMcp | null
  /** The outcomes of shadow policies; absent without any. */
  readonly shadows?: readonly ShadowOutcome[]
}

export interface RecordedStep {
  /** Its name in traces: `jwtAuthentication`. */
  readonly step: string
  readonly phase: RecordPhase
  /** `passed`: applied, or had nothing to do. `notReached`: an earlier step stopped the request. */
  readonly outcome: 'passed' | 'stopped' | 'notReached'
  /** The status of the reply, if the step stopped the request. */
  readonly status: number | null
  /** `RateLimit`; null if the step did not stop the request. */
  readonly reason: string | null
  readonly values: RecordValues
  /** Microseconds from the start of the request; null when the time was not recorded. */
  readonly at: number | null
}

export interface RecordedAttempt {
  /** `host:port`, or the name of the backend if it had no address. */
  readonly target: string
  readonly status: number | null
  readonly error: string | null
  /** Microseconds from the start of the request. */
  readonly from: number | null
  readonly to: number | null
}

/** Headers by lower-case name; several lines of one name are a list; credentials are redacted. */
export type RecordedHeaders = { readonly [name: string]: string | readonly string[] }

/** The request after the policies of gateway and route, before those of the backend. */
export interface ChangedRequest {
  /** Path and query; null if unchanged. */
  readonly path: string | null
  /** All headers: without those that policies removed, with those that they set; null if unchanged. */
  readonly headers: RecordedHeaders | null
}

/** A recorded body. */
export interface RecordedBody {
  /** The redacted text; null for other content. */
  readonly text: string | null
  readonly base64: string | null
  /** Whether the body is incomplete. */
  readonly isCut: boolean
}

/** A whole record. Headers, steps and calls are recorded for notable and sampled requests. */
export interface RequestRecord extends RequestSummary {
  /** The keys of listener, route and backend in a config dump. */
  readonly keys: { readonly listener: string | null; readonly route: string | null; readonly backend: string | null }
  readonly scheme: 'http' | 'https'
  /** The TLS server name of the client. */
  readonly sni: string | null
  /** The SPIFFE ID of a client in the mesh. */
  readonly identity: string | null
  readonly isSampled: boolean
  /** Null when only the summary is recorded. */
  readonly steps: readonly RecordedStep[] | null
  readonly calls: readonly RecordedAttempt[] | null
  /** The headers as received. */
  readonly requestHeaders: RecordedHeaders | null
  /** The request after all policies; null when they changed nothing that is recorded. */
  readonly afterPolicies: ChangedRequest | null
  /** The headers of the response to the client. */
  readonly responseHeaders: RecordedHeaders | null
  readonly requestBody: RecordedBody | null
  readonly responseBody: RecordedBody | null
  /** Results of policies, by the names of the variables of expressions: `jwt`, `apiKey`, `basicAuth`, `extauthz`, `metadata`; `inferencePool` is the choice of an endpoint. */
  readonly variables: RecordValues | null
}

/** A request in lists and streams. */
export interface ListedRequest extends RequestSummary {
  /** The first sentence of the explanation, from the record alone; only with `?headline=true`. */
  readonly headline?: string
}

/** The response of `GET /api/requests`: newest first. */
export interface RequestList {
  readonly requests: readonly ListedRequest[]
  /** The value for `?before=`; null without older records. */
  readonly next: string | null
}

/** The data of one message of `GET /api/requests/stream`: oldest first. */
export interface RequestBatch {
  readonly requests: readonly ListedRequest[]
  /** The number of matching requests left out so that the stream keeps up. */
  readonly omitted: number
}

/** The state of the store of API keys. */
export interface KeyStoreView {
  /** Why no key of the store is accepted; null while keys are checked. */
  readonly problem: string | null
  /** Keys, old keys of rotations, and teams. */
  readonly entries: number
  /**
   * While the store fails: when keys that are loaded are refused too, in milliseconds since 1970. Null when they are refused
   * already, and while the store works.
   */
  readonly validUntil: number | null
}

export interface LedgerStoreView {
  /** Why the store cannot be used, so that entries are spooled; null while it works. */
  readonly problem: string | null
}

/** The result of the tests and the back-test that a config ran before it went live. */
export interface VerificationView {
  /** The time of the verification, in milliseconds since 1970. */
  readonly at: number
  readonly isVerified: boolean
  /** The number of tests that the verification ran. */
  readonly tests: number
  /** The first tests of the verification that failed. */
  readonly failed: readonly { readonly test: string; readonly file: string; readonly line: number }[]
  /** The first problem of the verification; null when the config was verified. */
  readonly problem: string | null
  /** The number of recorded requests that the back-test decided again; null without a back-test. */
  readonly decided: number | null
  /** The number of recorded requests that passed and that the new config would deny. */
  readonly newlyDenied: number
  /** The number of recorded requests that the back-test could not decide. */
  readonly unknown: number
  readonly tookMs: number
}

/** The response of `GET /api/state`. */
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
  /** The last verification of a config; null when no config has `config.verify`. */
  readonly verification?: VerificationView | null
  readonly workers: number
  readonly restarts: number
  readonly isDraining: boolean
  /** The store of API keys; null without `config.keys`. */
  readonly keyStore: KeyStoreView | null
  /** The store of the ledger, which `/api/usage` adds up; null without `config.ledger`. */
  readonly ledgerStore: LedgerStoreView | null
  /** The client that asks, and what it may do: `Write` may change something. */
  readonly access: {
    /** The name of its token; null when the admin server needs none. */
    readonly token: string | null
    readonly scope: 'Read' | 'Write'
  }
  /** Average over the last ten seconds. */
  readonly requestsPerSecond: number
  readonly recorder: {
    readonly isEnabled: boolean
    /** The number of records in memory; `bytes` of `maxBytes` are used. */
    readonly records: number
    readonly bytes: number
    readonly maxBytes: number
    /** The start of the oldest record, in milliseconds since 1970. */
    readonly oldest: number | null
    /** Size of the folder of segments; null when nothing is written. */
    readonly diskBytes: number | null
  }
}

export interface StateProblem {
  /** `file:line:column` and the problem, as in the log. */
  readonly text: string
}
