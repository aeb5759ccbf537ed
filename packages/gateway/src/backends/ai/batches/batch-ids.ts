import { hash } from 'node:crypto'
import { textAt } from '@portico/http/json'
import type { Seal } from '../../../state/seal.ts'

/** A file or a batch that a provider stores. */
export interface StoredResource {
  /** The kind of the resource: `file` holds requests, `result` holds the responses of a batch. */
  readonly kind: 'file' | 'result' | 'batch'
  /** The id of the resource at its provider. */
  readonly id: string
  /** The name of the provider in the config. */
  readonly provider: string
  /** The model of all requests of the file, as the client named the model. */
  readonly model: string
  /** See `ownerOf`. */
  readonly owner: string
  /** The time at which the provider created the batch, in seconds since 1970; 0 for a file of requests. */
  readonly createdAt: number
  /** The estimated tokens of all requests of a file. */
  readonly expected: { readonly input: number; readonly output: number }
}

/**
 * Writes the ids of files and batches that clients get. The ids are encrypted, so that only the gateway can read the
 * provider's id and the owner.
 */
export class SealedIds {
  readonly #seal: () => Seal
  readonly #backend: string

  /** `backend` is the key of the backend; ids that another backend has written are unknown. */
  constructor(seal: () => Seal, backend: string) {
    this.#seal = seal
    this.#backend = backend
  }

  write({ kind, id, provider, model, owner, createdAt, expected }: StoredResource, prefix: string): string {
    const { input: ti, output: to } = expected
    const value = { i: id, p: provider, m: model, o: owner, at: createdAt, ti, to }
    return prefix + this.#seal().sealAs(this.#kindOf(kind), value)
  }

  /** Returns the file or batch that an id names; null for a forged id, for another kind, and for another owner. */
  read(text: string, kinds: readonly StoredResource['kind'][], owner: string): StoredResource | null {
    const sealed = PREFIX.exec(text)?.[1]
    if (sealed === undefined) return null
    for (const kind of kinds) {
      const value = this.#seal().openAs(this.#kindOf(kind), sealed)
      if (value === null || textAt(value, 'o') !== owner) continue
      return {
        ...{ kind, owner },
        id: textAt(value, 'i') ?? '',
        provider: textAt(value, 'p') ?? '',
        model: textAt(value, 'm') ?? '',
        createdAt: Number(value['at'] ?? 0),
        expected: { input: Number(value['ti'] ?? 0), output: Number(value['to'] ?? 0) },
      }
    }
    return null
  }

  /** Returns a digest that identifies a file or batch without its id, and is the same in every gateway. */
  digest({ provider, id }: StoredResource): string {
    return hash('sha256', JSON.stringify([this.#backend, provider, id]), 'base64url').slice(0, 22)
  }

  #kindOf(kind: StoredResource['kind']): string {
    return `batches ${this.#backend} ${kind}`
  }
}

/** The prefixes of ids that the vendors' client libraries expect. */
const PREFIX = /^(?:file-|batch_|msgbatch_)([\w-]+)$/
