type Labels = Readonly<Record<string, string>>

interface Family {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5] as const

/** All metrics; each name gets the prefix `portico_controller_`. */
export const families = {
  build_info: { type: 'gauge', help: 'The running version; always 1' },
  leader: { type: 'gauge', help: 'Whether this controller writes statuses and deploys: 1 or 0' },
  synchronized: { type: 'gauge', help: 'Whether all kinds were read: 1 or 0' },
  objects: { type: 'gauge', help: 'Objects that are watched, by kind' },
  materials: { type: 'gauge', help: 'Secrets and ConfigMaps whose content is in memory, by kind' },
  material_troubles_total: {
    type: 'counter',
    help: 'Reads of a Secret or ConfigMap that failed and were retried, by kind',
  },
  watch_troubles_total: { type: 'counter', help: 'Lists and watches that failed and were retried, by kind' },
  settles_total: { type: 'counter', help: 'Translations of batches of changes' },
  settle_duration_seconds: { type: 'histogram', help: 'Time to translate a batch of changes and publish it' },
  change_to_publish_seconds: {
    type: 'histogram',
    help: 'Time from the first change of a batch to the publication of the config',
  },
  gateways: { type: 'gauge', help: 'Gateways of our classes' },
  data_planes: { type: 'gauge', help: 'Data planes that are connected to this controller' },
  stream_messages_total: { type: 'counter', help: 'Messages sent to data planes, by type' },
  stream_sent_bytes_total: { type: 'counter', help: 'Bytes sent to data planes' },
  stream_acknowledgements_total: { type: 'counter', help: 'Configs that a data plane accepted' },
  stream_refusals_total: { type: 'counter', help: 'Streams that were rejected or ended, by reason' },
  config_refusals_total: { type: 'counter', help: 'Configs that a data plane rejected' },
  status_writes_total: { type: 'counter', help: 'Writes of statuses, by kind and result' },
  status_backlog: { type: 'gauge', help: 'Objects whose status waits for a check' },
  policy_verifications_total: { type: 'counter', help: 'Runs of the tests of GwPolicies, by result' },
  policy_verification_seconds: { type: 'histogram', help: 'Time to run the tests of a GwPolicy' },
  policy_verification_backlog: { type: 'gauge', help: 'GwPolicies whose tests wait for a run' },
  deployments_total: { type: 'counter', help: 'Attempts to deploy a Gateway, by result' },
  process_cpu_seconds_total: { type: 'counter', help: 'User and system CPU time of the process' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory of the process' },
  process_start_time_seconds: { type: 'gauge', help: 'Start of the process in seconds since the epoch' },
} as const satisfies Record<string, Family>

type Name = keyof typeof families
type NameOf<Type> = { [N in Name]: (typeof families)[N]['type'] extends Type ? N : never }[Name]

/** Counts, and prints the counts in the text format of Prometheus. */
export class Metrics {
  readonly #values = new Map<Name, Map<string, number>>()
  readonly #histograms = new Map<Name, { counts: number[]; sum: number }>()

  count(name: NameOf<'counter'>, labels: Labels = {}, by = 1): void {
    const series = this.#seriesOf(name)
    const key = printLabels(labels)
    series.set(key, (series.get(key) ?? 0) + by)
  }

  set(name: NameOf<'gauge' | 'counter'>, value: number, labels: Labels = {}): void {
    this.#seriesOf(name).set(printLabels(labels), value)
  }

  observe(name: NameOf<'histogram'>, seconds: number): void {
    let histogram = this.#histograms.get(name)
    if (histogram === undefined) {
      histogram = { counts: Array<number>(SECONDS.length + 1).fill(0), sum: 0 }
      this.#histograms.set(name, histogram)
    }
    const found = SECONDS.findIndex((bound) => seconds <= bound)
    const index = found < 0 ? SECONDS.length : found
    histogram.counts[index] = (histogram.counts[index] ?? 0) + 1
    histogram.sum += seconds
  }

  print(): string {
    return (Object.keys(families) as Name[]).map((name) => this.#printFamily(name)).join('')
  }

  #printFamily(name: Name): string {
    const { type, help } = families[name]
    const full = name.startsWith('process_') ? name : `portico_controller_${name}`
    const lines = type === 'histogram' ? this.#printHistogram(name, full) : this.#printSeries(name, full)
    return lines.length === 0 ? '' : `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${lines.join('\n')}\n`
  }

  #printSeries(name: Name, full: string): string[] {
    return [...(this.#values.get(name) ?? [])].map(([labels, value]) => `${full}${labels} ${value}`)
  }

  #printHistogram(name: Name, full: string): string[] {
    const histogram = this.#histograms.get(name)
    if (histogram === undefined) return []
    let total = 0
    const buckets = histogram.counts.map((count, index) => {
      total += count
      return `${full}_bucket{le="${SECONDS[index] ?? '+Inf'}"} ${total}`
    })
    return [...buckets, `${full}_sum ${histogram.sum}`, `${full}_count ${total}`]
  }

  #seriesOf(name: Name): Map<string, number> {
    let series = this.#values.get(name)
    if (series === undefined) this.#values.set(name, (series = new Map()))
    return series
  }
}

function printLabels(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
