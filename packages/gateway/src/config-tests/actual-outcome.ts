import { explain } from '../explain/explain.ts'
import type { Explanation, SourceLocation } from '../findings/explanation.ts'
import type { Ir } from '../ir/resources.ts'
import type { Outcome } from '../simulate/outcome.ts'
import type { UpstreamMessage } from '../simulate/world.ts'
import type { Cost } from '../records/cost.ts'
import type { Path } from '../schema/problem.ts'

interface ActualUpstream {
  readonly address: string
  readonly version: string
  readonly method: string
  readonly host: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface DecidingConfig {
  readonly ir: Ir
  locate(this: void, part: object, path: Path): SourceLocation | null
}

/** An outcome by the names that expectations use. Values are computed when a test first expects something of them. */
export class ActualOutcome {
  readonly #outcome: Outcome
  readonly #config: DecidingConfig
  #explanation: Explanation | null | undefined

  constructor(outcome: Outcome, config: DecidingConfig) {
    this.#outcome = outcome
    this.#config = config
  }

  get route(): string | null {
    return this.#outcome.access?.routeName ?? null
  }

  get backend(): string | null {
    return this.#outcome.record?.backend ?? null
  }

  get status(): number | null {
    return this.#outcome.response?.status ?? null
  }

  get by(): string | null {
    return this.#outcome.record?.reason?.policy ?? null
  }

  get rule(): number | null {
    const against = this.explanation?.rules.find(({ isAgainst }) => isAgainst)
    return against === undefined ? null : against.index + 1
  }

  get reason(): string {
    return this.explanation?.code ?? this.#outcome.closedBy ?? 'none'
  }

  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.#outcome.response?.headers ?? [])
  }

  get body(): string {
    return this.#outcome.response?.body.toString('utf8') ?? ''
  }

  get upstream(): ActualUpstream | null {
    return upstreamOf(this.#outcome)
  }

  get llm(): Readonly<Record<string, unknown>> | null {
    return llmOf(this.#outcome.record)
  }

  get tools(): readonly string[] | null {
    return toolsIn(this.body)
  }

  /** The explanation of the decision; null when the request became no record. */
  get explanation(): Explanation | null {
    if (this.#explanation === undefined) {
      const { record } = this.#outcome
      const { ir, locate } = this.#config
      this.#explanation =
        record === null ? null : explain(record, { isKnown: true, ir, locate, live: 1, isEarlier: false })
    }
    return this.#explanation
  }
}

/**
 * Returns the index of the last request that was sent to the backend among all requests that the gateway sent; -1
 * without such a request.
 */
export function upstreamIndex({ access, upstreamRequests }: Outcome): number {
  const endpoint = access?.endpoint ?? ''
  // The program of a stdio MCP target has no endpoint.
  const isCalled = (address: string): boolean => (endpoint === '' ? address.startsWith('stdio:') : address === endpoint)
  return upstreamRequests.findLastIndex(({ address }) => isCalled(address))
}

function upstreamOf(outcome: Outcome): ActualUpstream | null {
  const message: UpstreamMessage | undefined = outcome.upstreamRequests[upstreamIndex(outcome)]
  if (message === undefined) return null
  const { address, version, method, authority, target, headers, body } = message
  return {
    address,
    version,
    method,
    host: authority,
    path: target,
    headers: headersOf(headers),
    body: body.toString('utf8'),
  }
}

function headersOf(lines: readonly (readonly [name: string, value: string])[]): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {}
  for (const [name, value] of lines) headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  return headers
}

function llmOf(record: Outcome['record']): Readonly<Record<string, unknown>> | null {
  const llm = record?.llm ?? null
  if (llm === null) return null
  const { provider, requestModel, responseModel, inputTokens, outputTokens, cost, cache, streaming, finishReason } = llm
  return {
    ...{
      provider: llm.providerName === '' ? provider : llm.providerName,
      model: requestModel,
      answeredBy: responseModel,
    },
    ...{ inputTokens, outputTokens, streaming, finishReason },
    cost: cost === undefined ? null : dollarsOf(cost),
    cache: cache?.status ?? null,
  }
}

/** US dollars; null when the cost is unknown. */
function dollarsOf(cost: Cost): number | null {
  return cost.kind === 'known' ? cost.nanoDollars / 1e9 : null
}

/** The names in the result of `tools/list`; null for any other body. */
function toolsIn(body: string): readonly string[] | null {
  const json = /^\s*\{/.test(body) ? body : (/^data: (\{.*)$/m.exec(body)?.[1] ?? '')
  try {
    const parsed = JSON.parse(json) as { result?: { tools?: { name: string }[] } }
    return parsed.result?.tools?.map(({ name }) => name) ?? null
  } catch {
    return null
  }
}
