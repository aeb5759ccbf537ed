import { metric, type Program } from '../../packages/gateway/src/testing/process.ts'

/** The ports of the servers that the gateway calls. */
export interface Counterparts {
  origin: number
  /** The port of the gRPC services. */
  services: number
}

export interface Feature {
  policies?: (ports: Counterparts) => object
  frontend?: (ports: Counterparts) => object
  /** Whether nothing of what answered requests left behind is still under way. */
  isSettled?: (program: Program, answered: number) => Promise<boolean>
}

const service = ({ services }: Counterparts) => ({ host: `127.0.0.1:${services}` })
/** A machine that stands still for seconds refuses nothing. */
const timeout = '10m'
const local = (key: object) => ({ rateLimit: { local: [{ requests: 100_000_000, unit: 'Hours', ...key }] } })

export const features: Record<string, Feature> = {
  plain: {},
  // Every request with heads, into memory and files.
  recorder: { frontend: () => ({ recorder: { sampling: 'true', disk: { folder: 'records', maxSize: '16Mi' } } }) },
  'extauth-grpc': { policies: (ports) => ({ extAuth: { backendRef: service(ports), timeout } }) },
  'extauth-http': {
    policies: ({ origin }) => ({ extAuth: { backendRef: { host: `127.0.0.1:${origin}` }, http: {}, timeout } }),
  },
  // Decisions come and go all the time.
  'extauth-cache': {
    policies: (ports) => ({
      extAuth: {
        backendRef: service(ports),
        timeout,
        cache: { key: ['int(random() * 2000.0)'], ttl: '100ms', maxEntries: 1000 },
      },
    }),
  },
  'global-limit': {
    policies: (ports) => ({
      rateLimit: {
        global: {
          backendRef: service(ports),
          timeout,
          domain: 'soak',
          descriptors: [{ entries: [{ name: 'client', expression: 'source.address' }] }],
        },
      },
    }),
  },
  extproc: {
    policies: (ports) => ({
      extProc: {
        backendRef: service(ports),
        messageTimeout: timeout,
        processingOptions: { requestBodyMode: 'None', responseBodyMode: 'None' },
      },
    }),
  },
  keys: { policies: () => local({ key: 'int(random() * 100000.0)', keys: { size: 100_000 } }) },
  'accesslog-otlp': {
    frontend: (ports) => ({ accessLog: { otlp: { backendRef: service(ports) } } }),
    isSettled: areSent,
  },
  tracing: {
    frontend: (ports) => ({ tracing: { backendRef: service(ports), randomSampling: 1 } }),
    // One span of the request, and one of its call.
    isSettled: (program, answered) => areSent(program, 2 * answered),
  },
}

/** Longer than the exporter holds a batch that is not full. */
const QUIET_MS = 1500

/** The last change of the number of records that have left, to see when the exporter has no more of them. */
const lastChange = { records: 0, at: 0 }

/**
 * Whether so many records have left, for a collector or for good, and none since: requests whose clients left them have
 * spans as well, and the buffers of their batch are no leak.
 */
async function areSent(program: Program, records: number): Promise<boolean> {
  const counts = await Promise.all(
    ['exported', 'dropped'].map((fate) => metric(program, `portico_otlp_${fate}_records_total`)),
  )
  const left = counts.reduce((sum: number, count) => sum + (count ?? 0), 0)
  if (left !== lastChange.records) Object.assign(lastChange, { records: left, at: performance.now() })
  return left >= records && performance.now() - lastChange.at > QUIET_MS
}
