import type { Ir } from '../../ir/resources.ts'
import type { MetricsPush, PushConfig, PushOptions } from './metrics-push.ts'

/** Pushes metrics to the collector of the live config. The code that sends them is loaded with the first such config. */
export class PushedMetrics {
  readonly #options: PushOptions
  #push: Promise<MetricsPush> | null = null

  constructor(options: PushOptions) {
    this.#options = options
  }

  /** Applies the settings of a config that went live. */
  use(ir: Ir): void {
    const config = pushedMetrics(ir)
    if (config === null && this.#push === null) return
    this.#push ??= import('./metrics-push.ts').then(({ MetricsPush }) => new MetricsPush(this.#options))
    void this.#push.then((push) => push.use(config))
  }

  /** A function that sends the last values; null when nothing was ever sent. */
  get last(): (() => Promise<void>) | null {
    const push = this.#push
    return push === null ? null : async () => (await push).end()
  }
}

/** The collector of metrics and the interval: the last policy with `metrics` wins. */
function pushedMetrics({ policies, backends }: Ir): PushConfig | null {
  const isMeant = ({ target, frontend }: Ir['policies'][number]): boolean =>
    target.kind === 'gateway' && frontend?.metrics !== undefined
  const otlp = policies.findLast(isMeant)?.frontend?.metrics?.otlp
  if (otlp === undefined) return null
  const key = otlp.backendRef.name ?? otlp.backendRef.host
  return { intervalMs: otlp.interval, to: backends.find((backend) => backend.key === key)?.name ?? '' }
}
