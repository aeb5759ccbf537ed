import type { BackendUrl, HostTarget } from '../formats/address.ts'

/** The backend that a scalar refers to. */
export type NamedBackend =
  | { kind: 'name'; name: string }
  | { kind: 'host'; key: string; target: HostTarget }
  | { kind: 'url'; key: string; url: BackendUrl }
