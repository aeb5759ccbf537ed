import { type BackendUrl, parseBackendUrl } from '../../formats/address.ts'
import { readNameValues } from '../../formats/name-values.ts'
import { addedHeaderName } from '../../schema/fields/http-parts.ts'
import { secretText } from '../../schema/fields/auth/credential.ts'
import { validate } from '../../schema/validate.ts'
import type { LocatedProblem } from '../located-problem.ts'
import type { Environment } from '../substitute.ts'

export type Signal = 'logs' | 'metrics' | 'traces'

/** A collector as the standard variables of OpenTelemetry name it. */
export interface StandardCollector {
  url: BackendUrl
  protocol: 'GRPC' | 'HTTP'
  /** The path of this signal, for HTTP. */
  path: string
  headers: { name: string; value: string }[]
  timeoutMs: number | undefined
  /** The interval between two pushes of metrics. */
  intervalMs: number | undefined
  /** The sampling of requests, as fields of the policy. */
  sampling: Sampling | undefined
}

interface Sampling {
  randomSampling: string
  clientSampling: string
}

/** Reads the variables and collects their problems. Messages never contain values, which may be credentials. */
export class OtelVariables {
  readonly problems: LocatedProblem[] = []
  readonly #env: Environment

  constructor(env: Environment) {
    this.#env = env
  }

  /** Whether the variables turn off all exports. */
  isDisabled(): boolean {
    const text = this.#text('OTEL_SDK_DISABLED')?.toLowerCase() ?? 'false'
    if (text !== 'true' && text !== 'false') this.#refuse('OTEL_SDK_DISABLED', 'an invalid value', '`true` or `false`')
    return text === 'true'
  }

  checkResource(): void {
    const name = 'OTEL_RESOURCE_ATTRIBUTES'
    if (readNameValues(this.#text(name) ?? '') === null) this.#refuse(name, 'an invalid value', PAIRS)
  }

  /** The collector of a signal; null when the variables name none or turn the signal off. */
  collector(signal: Signal): StandardCollector | null {
    if (!this.#isWanted(signal)) return null
    const endpoint = this.#find(signal, 'ENDPOINT')
    if (endpoint === null) return null
    const url = parseBackendUrl(endpoint.text)
    if (url === null) {
      return this.#refuse(
        endpoint.name,
        'an invalid value',
        'a URL such as `http://127.0.0.1:4317`, without user or fragment',
      )
    }
    const protocol = this.#protocol(signal, url)
    const [headers, timeoutMs] = [this.#headers(signal), this.#timeout(signal)]
    const [intervalMs, sampling] = [this.#interval(signal), this.#sampling(signal)]
    if (protocol === null || headers === null || timeoutMs === null || intervalMs === null || sampling === null)
      return null
    const path = pathOf(url, endpoint.isOfSignal ? null : signal)
    return { url, protocol, path, headers, timeoutMs, intervalMs, sampling }
  }

  #isWanted(signal: Signal): boolean {
    const text = this.#text(`OTEL_${signal.toUpperCase()}_EXPORTER`) ?? 'otlp'
    return text.split(',').some((word) => word.trim() === 'otlp')
  }

  /** The standard leaves the default protocol open; without a setting, the port decides. */
  #protocol(signal: Signal, { port }: BackendUrl): StandardCollector['protocol'] | null {
    const found = this.#find(signal, 'PROTOCOL')
    if (found === null) return port === GRPC_PORT ? 'GRPC' : 'HTTP'
    if (found.text === 'grpc') return 'GRPC'
    return found.text === 'http/protobuf'
      ? 'HTTP'
      : this.#refuse(found.name, 'an invalid value', '`grpc` or `http/protobuf`')
  }

  #headers(signal: Signal): StandardCollector['headers'] | null {
    const found = this.#find(signal, 'HEADERS')
    const pairs = readNameValues(found?.text ?? '')
    if (pairs === null) return this.#refuse(found?.name ?? '', 'an invalid value', PAIRS)
    const headers: StandardCollector['headers'] = []
    for (const [text, value] of Object.entries(pairs)) {
      const [name, checked] = [validate(addedHeaderName(), text), validate(secretText({ max: 4_096 }), value)]
      if (!name.ok) return this.#refuse(found?.name ?? '', 'an invalid or reserved header name', PAIRS)
      if (!checked.ok) return this.#refuse(found?.name ?? '', `a value of ${name.value} that no header can have`, PAIRS)
      headers.push({ name: name.value, value })
    }
    return headers
  }

  #timeout(signal: Signal): number | undefined | null {
    const found = this.#find(signal, 'TIMEOUT')
    return found === null ? undefined : this.#milliseconds(found.name, 1, 600_000)
  }

  #interval(signal: Signal): number | undefined | null {
    return signal === 'metrics' ? this.#milliseconds('OTEL_METRIC_EXPORT_INTERVAL', 1_000, 3_600_000) : undefined
  }

  #sampling(signal: Signal): Sampling | undefined | null {
    const [name, argument] = ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG']
    const sampler = signal === 'traces' ? this.#text(name) : undefined
    if (sampler === undefined) return undefined
    const share = this.#text(argument) ?? '1'
    const known = samplers(share).get(sampler)
    if (known === undefined)
      return this.#refuse(name, 'another sampler', 'one of ' + [...samplers('').keys()].join(', '))
    // Other samplers have no argument; a leftover argument is ignored.
    if (sampler.endsWith('traceidratio') && !/^(0(\.[0-9]{1,9})?|1(\.0{1,9})?)$/.test(share)) {
      return this.#refuse(argument, 'an invalid value', 'a share from 0 to 1, such as `0.25`')
    }
    return known
  }

  /** A number of milliseconds; undefined when unset, null when invalid. */
  #milliseconds(name: string, min: number, max: number): number | undefined | null {
    const text = this.#text(name)
    if (text === undefined) return undefined
    const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1
    if (value >= min && value <= max) return value
    return this.#refuse(name, 'an invalid value', `a whole number of milliseconds, ${min} to ${max}`)
  }

  /** The variable of the signal, or else the variable of all signals. */
  #find(signal: Signal, what: string): { name: string; text: string; isOfSignal: boolean } | null {
    const own = `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${what}`
    for (const name of [own, `OTEL_EXPORTER_OTLP_${what}`]) {
      const text = this.#text(name)
      if (text !== undefined) return { name, text, isOfSignal: name === own }
    }
    return null
  }

  /** An empty variable counts as unset. */
  #text(name: string): string | undefined {
    return this.#env[name]?.trim() || undefined
  }

  #refuse(variable: string, found: string, expected: string): null {
    const location = { variable }
    this.problems.push({
      code: 'bad_format',
      path: [],
      at: 'value',
      found: `found ${found}`,
      expected,
      suggestion: null,
      location,
    })
    return null
  }
}

/** The samplers by name: the decision for requests without a trace, and for requests whose client samples its trace. */
function samplers(share: string): Map<string, Sampling> {
  const [all, none] = ['true', 'false']
  return new Map([
    ['always_on', { randomSampling: all, clientSampling: all }],
    ['always_off', { randomSampling: none, clientSampling: none }],
    ['traceidratio', { randomSampling: share, clientSampling: share }],
    ['parentbased_always_on', { randomSampling: all, clientSampling: all }],
    ['parentbased_always_off', { randomSampling: none, clientSampling: all }],
    ['parentbased_traceidratio', { randomSampling: share, clientSampling: all }],
  ])
}

/** The endpoint of one signal is used as written; to the endpoint of all signals, the path of the signal is added. */
function pathOf({ path }: BackendUrl, signal: Signal | null): string {
  return signal === null ? path : `${path.replace(/\/+$/, '')}/v1/${signal}`
}

const PAIRS = 'a list of name=value with commas between them'
/** As IANA has it. */
const GRPC_PORT = 4317
