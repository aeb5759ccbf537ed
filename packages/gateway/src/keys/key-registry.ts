import { hash, randomBytes } from 'node:crypto'
import { nearest } from '../formats/suggest.ts'
import { type AuditEntry, type KeyFields, type KeySecret, StaleChange, type StoredKey } from '../stores/key-store.ts'
import { keyText } from './table/entry-text.ts'
import type { ChangedKey, KeyAction } from './key-messages.ts'
import { KEY } from './table/key-table.ts'
import { NO_ROOM, prepareAgain, type RegistryParts } from './registry-parts.ts'
import { demandVersion, patched, KeyProblem } from './key-problem.ts'
import type { TeamRegistry } from './team-registry.ts'

/** Changes keys in the store, and then in the table of the workers. */
export class KeyRegistry {
  readonly #parts: RegistryParts
  readonly #teams: TeamRegistry
  /** The version of the store at which the change is prepared. */
  #version = 0

  constructor(parts: RegistryParts, teams: TeamRegistry) {
    this.#parts = parts
    this.#teams = teams
  }

  /** Fills the table from the store; throws when there is no room. */
  async load(): Promise<void> {
    const { store, table } = this.#parts
    for (let after = ''; ;) {
      const page = await store.keys({ after, limit: PAGE, team: null })
      for (const key of page) {
        for (const secret of this.#current(key)) {
          if (!table.put(KEY, secret.hash, keyText(key, secret))) throw new Error(NO_ROOM)
        }
      }
      const last = page.at(-1)
      if (last === undefined) return
      after = last.name
    }
  }

  /** Takes over changes of other gateways; returns whether there was room for all. */
  receive(keys: ReadonlyMap<string, StoredKey | null>, ended: readonly string[]): boolean {
    const { table } = this.#parts
    const valid = [...keys.values()].flatMap((key) =>
      key === null ? [] : this.#current(key).map((secret) => ({ key, secret })),
    )
    const kept = new Set(valid.map(({ secret }) => secret.hash))
    for (const hash of ended) if (!kept.has(hash)) table.remove(KEY, hash)
    const isPut = valid.map(({ key, secret }) => table.put(KEY, secret.hash, keyText(key, secret)))
    return isPut.every(Boolean)
  }

  change(name: string, change: KeyAction, by: string): Promise<ChangedKey> {
    return prepareAgain(this.#parts.store, (version) => {
      this.#version = version
      return this.#change(name, change, by)
    })
  }

  async #change(name: string, change: KeyAction, by: string): Promise<ChangedKey> {
    const before = await this.#parts.store.key(name)
    if (change.action === 'create') return this.#create(name, { before, fields: change.fields, by })
    if (before === null) throw await this.#unknown(name)
    const isEnd = change.action === 'revoke' || change.action === 'delete'
    if (before.revoked !== undefined && !isEnd) throw new KeyProblem(409, `the key ${name} is revoked`)
    switch (change.action) {
      case 'change':
        demandVersion(before, change.basedOn)
        return this.#replace(before, { fields: patched(before.fields, change.patch), action: 'change', by })
      case 'enable':
        return this.#replace(before, { fields: patched(before.fields, { disabled: null }), action: 'enable', by })
      case 'disable':
        return this.#end(before, { ...before, fields: { ...before.fields, disabled: true } }, { action: 'disable', by })
      case 'revoke':
        if (before.revoked !== undefined) throw new KeyProblem(409, `the key ${name} is revoked already`)
        return this.#end(before, { ...before, secrets: [], revoked: this.#time() }, { action: 'revoke', by })
      case 'delete':
        return this.#end(before, null, { action: 'delete', by })
      case 'rotate':
        return this.#rotate(before, change.overlapMs, by)
    }
  }

  async #create(
    name: string,
    { before, fields, by }: { before: StoredKey | null; fields: KeyFields; by: string },
  ): Promise<ChangedKey> {
    if (before !== null) {
      const what =
        before.revoked === undefined ? 'rotate it, or choose another name' : 'delete it to use its name again'
      throw new KeyProblem(409, `name: there is a key ${name} already: ${what}`)
    }
    await this.#check(fields)
    const created = this.#time()
    const { secret, text } = newSecret(created)
    const key = { id: randomBytes(6).toString('base64url'), name, fields, secrets: [secret], created, changed: created }
    await this.#commit(null, key, { action: 'create', by })
    return { key, secret: text }
  }

  async #replace(
    before: StoredKey,
    { fields, action, by }: { fields: KeyFields; action: string; by: string },
  ): Promise<ChangedKey> {
    await this.#check(fields)
    const key = { ...before, fields, secrets: this.#current(before), changed: this.#time() }
    await this.#commit(before, key, { action, by })
    return { key, secret: null }
  }

  async #rotate(before: StoredKey, overlapMs: number, by: string): Promise<ChangedKey> {
    const { now } = this.#parts
    const changed = this.#time()
    const { secret, text } = newSecret(changed)
    const end = new Date(now() + overlapMs).toISOString()
    const endOf = ({ expires }: KeySecret): string => (expires !== undefined && expires < end ? expires : end)
    const old = overlapMs === 0 ? [] : this.#current(before).map((each) => ({ ...each, expires: endOf(each) }))
    if (old.length >= MOST_SECRETS) {
      throw new KeyProblem(
        409,
        `the key ${before.name} has ${old.length} old keys that are still valid: rotate with overlap 0s`,
      )
    }
    const key = { ...before, secrets: [secret, ...old], changed }
    await this.#commit(before, key, { action: 'rotate', by })
    return { key, secret: text }
  }

  /** Ends a key for the workers first, so that it ends even when the store cannot be written. */
  async #end(
    before: StoredKey,
    after: StoredKey | null,
    { action, by }: { action: string; by: string },
  ): Promise<ChangedKey> {
    const { store, table } = this.#parts
    const key = after === null ? null : { ...after, changed: this.#time() }
    for (const secret of before.secrets) table.remove(KEY, secret.hash)
    try {
      const change = { kind: 'key', name: before.name, from: before, to: key } as const
      await store.commit(change, this.#entry(before, key, { action, by }), this.#version)
    } catch (error) {
      if (error instanceof StaleChange) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new KeyProblem(
        503,
        `the key ${before.name} is refused from now on, but the change could not be stored: after a restart the key is valid again. ${why}`,
      )
    }
    if (key !== null) this.#publish(null, key)
    return { key, secret: null }
  }

  async #commit(before: StoredKey | null, key: StoredKey, how: { action: string; by: string }): Promise<void> {
    const { store, table } = this.#parts
    const longest = Math.max(0, ...key.secrets.map((secret) => Buffer.byteLength(keyText(key, secret))))
    if (longest > MOST_DETAILS) throw new KeyProblem(400, `the fields of the key have more than ${MOST_DETAILS} bytes`)
    const added = key.secrets.length - (before?.secrets.length ?? 0)
    if (!table.hasRoom(Math.max(0, added), longest)) throw new KeyProblem(409, NO_ROOM)
    const change = { kind: 'key', name: key.name, from: before, to: key } as const
    await store.commit(change, this.#entry(before, key, how), this.#version)
    this.#publish(before, key)
  }

  #publish(before: StoredKey | null, key: StoredKey): void {
    const { table } = this.#parts
    const kept = new Set(key.secrets.map((secret) => secret.hash))
    for (const secret of before?.secrets ?? []) if (!kept.has(secret.hash)) table.remove(KEY, secret.hash)
    for (const secret of key.secrets) table.put(KEY, secret.hash, keyText(key, secret))
  }

  #entry(
    before: StoredKey | null,
    after: StoredKey | null,
    { action, by }: { action: string; by: string },
  ): AuditEntry {
    const name = (after ?? before)?.name ?? ''
    return {
      at: this.#time(),
      by,
      action,
      kind: 'key',
      name,
      before: withoutHashes(before),
      after: withoutHashes(after),
    }
  }

  async #check({ team, notBefore, expires, tags }: KeyFields): Promise<void> {
    if (notBefore !== undefined && expires !== undefined && notBefore >= expires) {
      throw new KeyProblem(400, 'expires: expected a time after `notBefore`')
    }
    const taken = Object.keys(tags ?? {}).find((name) => OWN_FIELDS.has(name))
    if (taken !== undefined) throw new KeyProblem(400, `tags: the name ${taken} is a field of the key itself`)
    if (team !== undefined) await this.#teams.demand(team, 'team')
  }

  /** Secrets that have not ended. */
  #current({ secrets }: StoredKey): KeySecret[] {
    const now = this.#time()
    return secrets.filter(({ expires }) => expires === undefined || expires > now)
  }

  async #unknown(name: string): Promise<KeyProblem> {
    const near = await this.#parts.store.keys({ after: name.slice(0, 1), limit: PAGE, team: null })
    const match = nearest(
      name,
      near.map((key) => key.name),
    )
    return new KeyProblem(404, `there is no key ${name}${match === null ? '' : `; did you mean ${match}?`}`)
  }

  #time(): string {
    return new Date(this.#parts.now()).toISOString()
  }
}

/** A new key: `pk_live_` and 256 random bits. */
function newSecret(created: string): { secret: KeySecret; text: string } {
  const text = `pk_live_${randomBytes(32).toString('base64url')}`
  return { secret: { hash: hash('sha256', text), prefix: text.slice(0, PREFIX_LENGTH), created }, text }
}

/** A key as people may see it. */
function withoutHashes(key: StoredKey | null): object | null {
  if (key === null) return null
  return { ...key, secrets: key.secrets.map(({ hash: _hash, ...secret }) => secret) }
}

/** `pk_live_` and four more characters, which leave 232 unknown bits. */
const PREFIX_LENGTH = 12
const PAGE = 1_000
const MOST_SECRETS = 8
const MOST_DETAILS = 65_536
/** Fields of `apiKey` that tags cannot replace. */
const OWN_FIELDS: ReadonlySet<string> = new Set(['name', 'owner', 'team'])
