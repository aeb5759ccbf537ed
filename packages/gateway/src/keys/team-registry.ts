import { randomBytes } from 'node:crypto'
import { nearest } from '../formats/suggest.ts'
import type { AuditEntry, StoredTeam, TeamFields } from '../stores/key-store.ts'
import { teamHash, teamText } from './table/entry-text.ts'
import type { TeamAction } from './key-messages.ts'
import { TEAM } from './table/key-table.ts'
import { NO_ROOM, prepareAgain, type RegistryParts } from './registry-parts.ts'
import { demandVersion, patched, KeyProblem } from './key-problem.ts'

/** Changes teams in the store, and then in the table of the workers. */
export class TeamRegistry {
  readonly #parts: RegistryParts
  /** The version of the store at which the change is prepared. */
  #version = 0

  constructor(parts: RegistryParts) {
    this.#parts = parts
  }

  /** Fills the table from the store; throws when there is no room. */
  async load(): Promise<void> {
    for (const team of await this.#parts.store.teams()) {
      if (!this.#publish(team)) throw new Error(NO_ROOM)
    }
    this.#parts.table.teamsChanged()
  }

  /** Takes over new and changed teams of other gateways; returns whether there was room for all. */
  receive(teams: ReadonlyMap<string, StoredTeam | null>): boolean {
    const isPut = [...teams.values()].map((team) => team === null || this.#publish(team))
    if (teams.size > 0) this.#parts.table.teamsChanged()
    return isPut.every(Boolean)
  }

  /** Removes the teams that other gateways have removed. */
  removeGone(teams: ReadonlyMap<string, StoredTeam | null>): void {
    for (const [name, team] of teams) if (team === null) this.#withdraw(name)
  }

  change(name: string, change: TeamAction, by: string): Promise<StoredTeam | null> {
    return prepareAgain(this.#parts.store, (version) => {
      this.#version = version
      return this.#change(name, change, by)
    })
  }

  async #change(name: string, change: TeamAction, by: string): Promise<StoredTeam | null> {
    const before = await this.#parts.store.team(name)
    if (change.action === 'create') {
      if (before !== null) throw new KeyProblem(409, `name: there is a team ${name} already`)
      return this.#put(name, { before, fields: change.fields, by })
    }
    if (before === null) throw await this.#unknown(name)
    if (change.action === 'delete') return this.#remove(before, by)
    demandVersion(before, change.basedOn)
    return this.#put(name, { before, fields: patched(before.fields, change.patch), by })
  }

  /** Throws unless there is such a team; `field` has its name. */
  async demand(name: string, field: 'team' | 'parent'): Promise<void> {
    if ((await this.#parts.store.team(name)) !== null) return
    throw new KeyProblem(400, `${field}: ${(await this.#unknown(name)).message}`)
  }

  async #put(
    name: string,
    { before, fields, by }: { before: StoredTeam | null; fields: TeamFields; by: string },
  ): Promise<StoredTeam> {
    const { store, table } = this.#parts
    await this.#checkDepth(name, fields.parent)
    const changed = this.#time()
    const own = { id: before?.id ?? randomBytes(6).toString('base64url'), created: before?.created ?? changed }
    const team: StoredTeam = { ...own, name, fields, changed }
    if (!table.hasRoom(before === null ? 1 : 0, Buffer.byteLength(teamText(team)))) throw new KeyProblem(409, NO_ROOM)
    const action = before === null ? 'create' : 'change'
    const entry = this.#entry({ action, by, name, before, after: team })
    await store.commit({ kind: 'team', name, to: team }, entry, this.#version)
    this.#publish(team)
    table.teamsChanged()
    return team
  }

  async #remove(before: StoredTeam, by: string): Promise<null> {
    const { store } = this.#parts
    const { name } = before
    const [key] = await store.keys({ after: '', limit: 1, team: name })
    if (key !== undefined)
      throw new KeyProblem(409, `the key ${key.name} belongs to the team ${name}: change or delete it first`)
    const child = (await store.teams()).find(({ fields }) => fields.parent === name)
    if (child !== undefined)
      throw new KeyProblem(409, `the team ${child.name} belongs to the team ${name}: change it first`)
    const entry = this.#entry({ action: 'delete', by, name, before, after: null })
    await store.commit({ kind: 'team', name, to: null }, entry, this.#version)
    this.#withdraw(name)
    return null
  }

  #withdraw(name: string): void {
    this.#parts.table.remove(TEAM, teamHash(name).toString('hex'))
    this.#parts.table.teamsChanged()
  }

  #publish(team: StoredTeam): boolean {
    return this.#parts.table.put(TEAM, teamHash(team.name).toString('hex'), teamText(team))
  }

  /** Counts the teams above and below: the deepest line through the team must not have more than `MOST_LEVELS`. */
  async #checkDepth(name: string, parent: string | undefined): Promise<void> {
    if (parent !== undefined) await this.demand(parent, 'parent')
    const all = (await this.#parts.store.teams()).filter((team) => team.name !== name)
    const parentOf = new Map(all.map((team) => [team.name, team.fields.parent]))
    parentOf.set(name, parent)
    for (const start of parentOf.keys()) {
      let levels = 0
      for (let team: string | undefined = start; team !== undefined; team = parentOf.get(team)) {
        levels += 1
        if (levels > parentOf.size) throw new KeyProblem(400, `parent: the team ${name} would belong to itself`)
        if (levels > MOST_LEVELS)
          throw new KeyProblem(400, `parent: teams would be nested more than ${MOST_LEVELS} deep`)
      }
    }
  }

  async #unknown(name: string): Promise<KeyProblem> {
    const names = (await this.#parts.store.teams()).map((team) => team.name)
    const match = nearest(name, names)
    return new KeyProblem(404, `there is no team ${name}${match === null ? '' : `; did you mean ${match}?`}`)
  }

  #entry(entry: Omit<AuditEntry, 'at' | 'kind'>): AuditEntry {
    return { at: this.#time(), kind: 'team', ...entry }
  }

  #time(): string {
    return new Date(this.#parts.now()).toISOString()
  }
}

/** The most teams in a line from the outermost to the innermost. */
const MOST_LEVELS = 4
