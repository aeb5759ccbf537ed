import type { DatabaseUrl } from '../../formats/store-url.ts'

/** A database, as plain data. */
export interface PostgresSettings extends DatabaseUrl {
  /** Certificates to trust, as PEM; null for those of the system. */
  readonly ca: string | null
  /** Empty when the server needs none. */
  readonly password: string
  /** The schema with the tables; a name that needs no quotes. */
  readonly schema: string
  readonly timeoutMs: number
}
