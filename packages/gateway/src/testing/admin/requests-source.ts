import type { RequestsSource } from '../../admin/requests.ts'
import type { Ir } from '../../ir/resources.ts'
import { createRequestsSource } from '../../process/admin/request-source.ts'
import { RecordStore } from '../../telemetry/recorder/record-store.ts'

const NOTHING: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }

/** The source of the admin API for request records, with or without a gateway under test. */
export function requestsOf(store: RecordStore = new RecordStore(), clock: () => number = Date.now): RequestsSource {
  return createRequestsSource({
    store,
    disk: () => null,
    clock,
    identity: { podName: 'test', namespace: 'default', gateway: 'default' },
    currentIr: () => null,
    explained: () => ({ isKnown: true, isEarlier: false, live: 1, ir: NOTHING, locate: null }),
    state: () => ({
      version: 'test',
      generation: 1,
      since: null,
      startedAt: 0,
      source: '',
      problems: [],
      workers: 1,
      restarts: 0,
      isDraining: false,
      keyStore: null,
      ledgerStore: null,
    }),
  })
}
