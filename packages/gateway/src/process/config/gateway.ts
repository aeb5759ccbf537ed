import { canRun, checkCompile, distinct, unitFaults } from '../../compile/check.ts'
import { loadFeatures } from '../../compile/load-features.ts'
import { ConfigFault } from '../../pipeline/compiled/config-fault.ts'
import type { UnitFault } from '../../pipeline/compiled/containment.ts'
import { applyChange, changeBetween, type IrChange } from '../../ir/change.ts'
import type { AttachedPolicy, Bind, Ir } from '../../ir/resources.ts'
import { withoutBinds } from '../../ir/without-binds.ts'
import { type CertificateExpiry, certificateExpiries } from '../telemetry/certificate-expiry.ts'
import { claimPort } from './ports.ts'
import { atStart } from '../workers/start-flags.ts'
import { ReachedServices } from './reached-services.ts'
import type { SessionKeys } from './session-keys.ts'
import { hasBatches } from '../../llm/providers/batch-providers.ts'
import type { Supervisor } from '../workers/supervisor.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import type { Logger } from '../../telemetry/log/logger.ts'

interface GatewayOptions {
  supervisor: Supervisor
  log: Logger
  collector: Collector
  /** Returns the keys of sessions, files and batches; called when a config needs them. */
  sessionKeys: () => SessionKeys
  /** Whether ports without an address are opened for IPv6 too. */
  ipv6: boolean
  /** Called with each config that went live. */
  wentLive?: (ir: Ir) => void
}

/** Decides which faults close only their unit; all others reject the config. */
interface Quarantine {
  holds(found: UnitFault): boolean
}

/** Rejects config files with any fault: the author gets an error, and no part of the config is closed. */
const ALL_OR_NOTHING: Quarantine = { holds: () => false }

/** Applies configs one after the other: each goes live in all workers, or in none. */
export class Gateway {
  readonly #supervisor: Supervisor
  readonly #log: Logger
  readonly #ipv6: boolean
  readonly #wentLive: (ir: Ir) => void
  readonly #loadSessionKeys: () => SessionKeys
  #sessionKeys: SessionKeys | null = null
  /** Real ports by bind key. */
  #ports: Record<string, number> = {}
  #ir: Ir | null = null
  #generation = 0
  /** The last generation number that was used, even if its config was rejected: some workers may have served it for a moment. */
  #given = 0
  #synchronized = false
  /** Problems of the newest config; empty when that config is live. */
  #problems: readonly string[] = []
  #since: number | null = null
  #certificates: readonly CertificateExpiry[] = []
  #closed: readonly UnitFault[] = []
  /** Addresses of Services, which change without a new config. */
  readonly services: ReachedServices
  readonly #reloads = { success: 0, failure: 0 }
  /** Settles when the last change of the live config has ended, because changes run one after the other. */
  #changing: Promise<unknown> = Promise.resolve()

  constructor({ supervisor, log, collector, ipv6, sessionKeys, wentLive = () => {} }: GatewayOptions) {
    this.#wentLive = wentLive
    this.#loadSessionKeys = sessionKeys
    this.#supervisor = supervisor
    this.services = new ReachedServices((change) => supervisor.setEndpoints(change))
    this.#log = log
    this.#ipv6 = ipv6
    collector.provide('config_synchronized', [], () => (this.#synchronized ? 1 : 0))
    collector.provideAll('tls_certificate_not_after_seconds', () => this.#certificates)
    collector.provide('config_generation', [], () => this.#generation)
    collector.provide('config_quarantined_units', [], () => new Set(this.#closed.map(({ unit }) => unit.key)).size)
    collector.provide('config_reloads_total', ['success'], () => this.#reloads.success)
    collector.provide('config_reloads_total', ['failure'], () => this.#reloads.failure)
  }

  get generation(): number {
    return this.#generation
  }

  /** Problems of the newest config; empty when that config is live. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Faults of the live config: each closes its unit, and nothing else. */
  get closed(): readonly UnitFault[] {
    return this.#closed
  }

  /** When the live config went live, in milliseconds since 1970. */
  get since(): number | null {
    return this.#since
  }

  get ir(): Ir | null {
    return this.#ir
  }

  get ports(): Readonly<Record<string, number>> {
    return this.#ports
  }

  /** Makes a config live; returns the problems that prevent it. `explain` adds the location in the file to a fault. */
  apply(
    config: Ir,
    explain = ({ message }: ConfigFault): string => message,
    quarantine = ALL_OR_NOTHING,
  ): Promise<string[]> {
    return this.#inTurn(() => this.#apply(config, explain, quarantine))
  }

  /**
   * Adds the policies of a rehearsal to the live config, or removes them. `change` returns all policies, or null to
   * change nothing. The text and the reported problems of the config stay the same. Returns the problem when no worker
   * has applied the change, or the numbers of both generations.
   */
  changePolicies(
    change: (live: Ir) => AttachedPolicy[] | null,
  ): Promise<{ problem: string } | { before: number; generation: number }> {
    return this.#inTurn(async () => {
      const { counters } = this.#supervisor
      const [before, live] = [this.#generation, this.#ir]
      if (live === null) return { problem: 'no config is active' }
      const policies = change(live)
      if (policies === null) return { before, generation: before }
      const ir = { ...live, policies }
      const sessions = this.#sessionKeysFor(ir)
      if ('problem' in sessions) return { problem: sessions.problem }
      await loadFeatures(ir)
      const generation = ++this.#given
      const problem = await this.#supervisor.apply({
        ...{ generation, ir, change: changeBetween(live, ir), ports: this.#ports },
        ...{ sessionKeys: sessions.keys, tables: counters.tables },
      })
      if (problem !== null) return { problem }
      this.#generation = generation
      this.#ir = ir
      return { before, generation }
    })
  }

  #inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const result = this.#changing.then(task)
    this.#changing = result.catch(() => undefined)
    return result
  }

  async #apply(config: Ir, explain: (fault: ConfigFault) => string, quarantine: Quarantine): Promise<string[]> {
    const wanted = this.served(config)
    await loadFeatures(wanted)
    const change = this.#ir === null ? null : changeBetween(this.#ir, wanted)
    const changed = this.#ir === null || change === null ? null : applyChange(this.#ir, change)
    const { counters, workers } = this.#supervisor
    // Any change may repair a closed unit, so the whole config is checked while units are closed.
    const mayBePart = changed !== null && this.#closed.length === 0 && !counters.isCrowded
    const isPart = mayBePart && canRun(changed, counters, workers)
    const faults = isPart ? [] : await this.#checkWhole(wanted)
    const problems = this.#problemsIn(wanted, faults, explain, quarantine)
    if (problems.length > 0) return this.refused(problems)
    // `wanted` goes live, and not the equal result of the change: the next load reuses parts of `wanted` by identity.
    return this.#goLive(wanted, { change, isPart, closed: faults, quarantine })
  }

  #problemsIn(
    ir: Ir,
    faults: readonly UnitFault[],
    explain: (fault: ConfigFault) => string,
    quarantine: Quarantine,
  ): string[] {
    const refusing = faults.filter((found) => !quarantine.holds(found)).map(({ fault }) => fault)
    const sessions = this.#sessionKeysFor(ir)
    return [...distinct(refusing).map(explain), ...('problem' in sessions ? [sessions.problem] : [])]
  }

  /** `check` returns the problems of a config that do not depend on this machine. */
  async check(ir: Ir, explain: (fault: ConfigFault) => string): Promise<string[]> {
    const { counters, workers } = this.#supervisor
    await loadFeatures(ir)
    counters.drop()
    const faults = atStart(() => checkCompile(ir, counters, workers)).map(explain)
    const sessions = this.#sessionKeysFor(ir)
    return 'problem' in sessions ? [...faults, sessions.problem] : faults
  }

  async #checkWhole(ir: Ir): Promise<readonly UnitFault[]> {
    const { counters, workers } = this.#supervisor
    counters.drop()
    const faults = unitFaults(ir, counters, workers)
    if (faults.length === 0 || this.#ir === null || !counters.isLoose) return faults
    // The table may be full of keys that only earlier configs used.
    counters.drop()
    checkCompile(this.#ir, counters, workers)
    counters.keep()
    counters.drop()
    return unitFaults(ir, counters, workers)
  }

  /** Makes the first config live, which the caller has checked. */
  open(config: Ir): Promise<string[]> {
    return this.#goLive(this.served(config), { change: null, isPart: false, closed: [], quarantine: ALL_OR_NOTHING })
  }

  async #goLive(wanted: Ir, { change, isPart, closed, quarantine }: ConfigCheck): Promise<string[]> {
    const { counters } = this.#supervisor
    const sessions = this.#sessionKeysFor(wanted)
    if ('problem' in sessions) return this.refused([sessions.problem])
    const problems: string[] = []
    const ports: Record<string, number> = {}
    const shut: UnitFault[] = []
    for (const bind of wanted.binds) {
      // A bind with port 0 keeps the port that it got before.
      const port = this.#ports[bind.key] ?? bind.port
      const claimed = this.#holds(bind, port) ? { port } : await claimPort({ ...bind, port })
      if ('port' in claimed) ports[bind.key] = claimed.port
      else {
        const fault = new ConfigFault(bind, [], { found: claimed.problem, expected: '' })
        const found = { unit: { kind: 'bind', key: bind.key }, fault } as const
        if (quarantine.holds(found)) shut.push(found)
        else problems.push(claimed.problem)
      }
    }
    if (problems.length > 0) return this.refused(problems)
    // A port that is not available is tried again with the next config.
    const ir = withoutBinds(wanted, new Set(shut.map(({ unit }) => unit.key)))
    const generation = ++this.#given
    const error = await this.#supervisor.apply({
      generation,
      ir,
      change: shut.length === 0 ? change : this.#ir && changeBetween(this.#ir, ir),
      ports,
      sessionKeys: sessions.keys,
      tables: counters.tables,
    })
    if (error !== null) return this.refused([error])
    if (isPart) counters.keepAlso()
    else counters.keep()
    this.#generation = generation
    this.#ir = ir
    this.#ports = ports
    this.#certificates = certificateExpiries(ir.listeners)
    this.#synchronized = true
    this.#problems = []
    this.#closed = [...closed, ...shut]
    this.#since = Date.now()
    this.#reloads.success++
    this.services.wentLive(ir)
    this.#wentLive(ir)
    this.#log.info(`config ${generation} active`, { listeners: ir.listeners.length, routes: ir.routes.length })
    return []
  }

  /** `served` returns the config as this process serves it: without IPv6 addresses when IPv6 is off. */
  served(config: Ir): Ir {
    return this.#ipv6 ? config : { ...config, binds: config.binds.map(withoutIpv6) }
  }

  /** Called when the source is back at the live config, which makes earlier problems obsolete. */
  stillWanted(): void {
    this.#synchronized = true
    this.#problems = []
  }

  /** Whether the live config is the newest one. */
  get isNewest(): boolean {
    return this.#synchronized
  }

  /** Marks the live config as outdated: a newer one cannot go live. */
  notNewest(): void {
    this.#synchronized = false
  }

  /** The last good config stays; logs, health and metrics say that it is not the newest. */
  refused(problems: string[]): string[] {
    this.#supervisor.counters.drop()
    this.#synchronized = false
    this.#problems = problems
    this.#reloads.failure++
    return problems
  }

  #sessionKeysFor(ir: Ir): SessionKeys {
    if (!needsKeys(ir)) return { keys: [] }
    const found = this.#sessionKeys ?? this.#loadSessionKeys()
    // A bad key file may be fixed before the next reload, so only good keys are kept.
    if ('keys' in found) this.#sessionKeys = found
    return found
  }

  /** Whether workers listen on this port already, which cannot be claimed twice. */
  #holds({ address, transport }: Bind, port: number): boolean {
    const binds = (this.#ir?.binds ?? []).filter((bind) => bind.transport === transport)
    return binds.some((bind) => this.#ports[bind.key] === port && overlap(bind.address, address))
  }
}

/** A config that passed the check. */
interface ConfigCheck {
  change: IrChange | null
  /** Whether only the changed parts were checked; their counters were reserved in addition to the existing ones. */
  isPart: boolean
  /** Faults that close their units. */
  closed: readonly UnitFault[]
  quarantine: Quarantine
}

/** Whether the config issues session ids, cookies, or ids of files and batches, which need keys. */
function needsKeys({ backends, policies }: Ir): boolean {
  return (
    backends.some(
      ({ target }) =>
        target.kind === 'mcp' ||
        (target.kind === 'ai' && target.groups.flat().some(({ config }) => hasBatches(config))),
    ) ||
    policies.some(
      ({ traffic, backend }) =>
        traffic?.sessionPersistence !== undefined || backend?.ai?.cache?.shared?.encrypt === true,
    )
  )
}

function overlap(a: string, b: string): boolean {
  return a === b || isEvery(a) || isEvery(b)
}

function isEvery(address: string): boolean {
  return address === '' || address === '0.0.0.0' || address === '::'
}

function withoutIpv6(bind: Bind): Bind {
  return bind.address === '' ? { ...bind, address: '0.0.0.0' } : bind
}
