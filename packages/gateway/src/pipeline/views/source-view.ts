import type { ConnectionInfo } from '@portico/http'
import { parseSpiffe, spiffeIn } from '../../formats/spiffe.ts'

/** The variable `source`: the client of a connection. */
export class SourceView {
  readonly #connection: ConnectionInfo

  constructor(connection: ConnectionInfo) {
    this.#connection = connection
  }

  get address(): string {
    return this.#connection.address
  }

  get port(): number {
    return this.#connection.port
  }

  get rawAddress(): string {
    return this.#connection.rawAddress
  }

  get rawPort(): number {
    return this.#connection.rawPort
  }

  get certificate(): ConnectionInfo['certificate'] {
    return this.#connection.certificate
  }

  /** The workload of the mesh in the verified certificate; absent for every other client. */
  get identity(): { trustDomain: string; namespace: string; serviceAccount: string } | undefined {
    const { certificate } = this.#connection
    const uri = spiffeIn(certificate?.subjectAltNames ?? [])
    return uri === null ? undefined : (parseSpiffe(uri) ?? undefined)
  }
}
