import type { BackendUrl, HostTarget } from '../formats/address.ts'

/** What a scalar says of the backend that it stands for. */
export type NamedBackend =
  | { kind: 'name'; name: string }
  | { kind: 'host'; key: string; target: HostTarget }
  | { kind: 'url'; key: string; url: BackendUrl }
