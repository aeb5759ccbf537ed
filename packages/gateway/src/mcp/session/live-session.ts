import { isObject, type JsonObject, objectAt, textAt } from '@portico/http/json'
import { Deadline } from '@portico/http'
import { NewerLink } from '../targets/newer-target.ts'
import type { Target, TargetLimits } from '../targets/target.ts'
import type { Hub } from '../hub.ts'
import { makeMessage, type RpcMessage, isSessionless } from '../protocol.ts'
import { Owners } from '../owners.ts'
import type { Caller, TargetFailure, TargetLink } from '../transport.ts'
import { introduce } from './introduce.ts'
import type { SessionState, TargetState } from './state.ts'

interface LiveSessionOptions {
  /** Whether the session has no id and lasts for one request. */
  isPassing: boolean
  owners?: Owners
  /** The targets that give out no session ids, and so need no `initialize`, with their revisions. */
  nameless?: NamelessTargets
}

interface NamelessTargets {
  versionOf(target: string): string | undefined
  add(target: string, version: string): void
}

/** A session as one worker sees it. */
export class LiveSession {
  readonly state: SessionState
  readonly isPassing: boolean
  /** The targets of item names, learned from the lists of this session. */
  readonly owners: Owners
  /** The `initialize` results of targets that this worker initialized, by target. */
  readonly introductions = new Map<string, JsonObject>()
  readonly #hub: Hub
  readonly #nameless: NamelessTargets | null
  readonly #links = new Map<string, TargetLink>()
  readonly #versions = new Map<string, string>()
  readonly #beginning = new Map<string, Promise<TargetFailure | null>>()

  constructor(state: SessionState, hub: Hub, { isPassing, owners, nameless }: LiveSessionOptions) {
    this.state = state
    this.isPassing = isPassing
    this.owners = owners ?? new Owners()
    this.#nameless = nameless ?? null
    this.#hub = hub
    for (const { name, version } of state.targets) this.#versions.set(name, version)
  }

  /** The client's capabilities: the requests that it accepts from servers. */
  get abilities(): JsonObject {
    return objectAt(this.state.initialize, 'capabilities')
  }

  /** Whether the target was initialized for the session, or needs no `initialize`. */
  knows(target: Target): boolean {
    return this.#wasTold(target) || this.isAssumed(target)
  }

  /** Whether the target is assumed to need no `initialize`, because it gave out no id to an earlier session. */
  isAssumed(target: Target): boolean {
    return !this.#wasTold(target) && this.#nameless?.versionOf(target.name) !== undefined
  }

  /** Returns the link with the target's current session id: another worker may have initialized the target again. */
  link(target: Target): TargetLink {
    const { name, transport } = target
    const { key, targets } = this.state
    const since = this.#begunSince(name)
    const session = since?.session ?? targets.find((known) => known.name === name)?.session ?? ''
    const before = this.#links.get(name)
    const version = this.versionAt(target)
    // A link that was made before the target's revision was known may lack the translation.
    const isUnderstood = before instanceof NewerLink || !this.#isNewer(version)
    if (before !== undefined && isUnderstood && (since === null || before.session === session)) return before
    const link = this.#translated(transport.link({ key, target: session, isPassing: this.isPassing }), version)
    this.#links.set(name, link)
    return link
  }

  versionAt({ name }: Target): string {
    const known = this.#begunSince(name)?.version ?? this.#versions.get(name)
    return known ?? this.#nameless?.versionOf(name) ?? this.state.version
  }

  /** Records that the target was initialized with this revision. */
  took(target: Target, version: string): void {
    this.#versions.set(target.name, version)
    this.#noteNameless(target, version)
  }

  /** Stores the client's `initialize` in the hub, for a session id that was given out before `initialize`. */
  remember(initialize: JsonObject, targets: readonly TargetState[]): void {
    const { key, expiresAt } = this.state
    this.#hub.setTargetSession(key, INITIALIZE_KEY, JSON.stringify(initialize), expiresAt * 1000)
    for (const { name, session, version } of targets) {
      this.#hub.setTargetSession(key, name, JSON.stringify({ session, version }), expiresAt * 1000)
      // The link repeats the client's `initialize` params, which were unknown until now.
      if (this.#links.get(name) instanceof NewerLink) this.#links.delete(name)
    }
  }

  /**
   * Initializes the target for the session; concurrent calls share one attempt. `lost` is the link whose session the target
   * no longer knew: if another link has replaced it by now, the target has been initialized already.
   */
  begin(target: Target, caller: Caller, lost: TargetLink | null): Promise<TargetFailure | null> {
    const { name } = target
    const running = this.#beginning.get(name)
    if (running !== undefined) return running
    if (lost !== null && this.link(target) !== lost) return Promise.resolve(null)
    const begun = this.#begin(target, caller).finally(() => this.#beginning.delete(name))
    this.#beginning.set(name, begun)
    return begun
  }

  /** Sends the client's `initialize` on this link. */
  introduceBy(link: TargetLink, target: Target, caller: Caller): ReturnType<typeof introduce> {
    const request = makeMessage({
      jsonrpc: '2.0',
      id: 'portico-initialize',
      method: 'initialize',
      params: this.#initialize,
    })
    return introduce({
      link,
      target: target.name,
      limits: target.limits,
      request,
      caller,
      keep() {},
      discoversFirst: isSessionless(this.state.version) && target.transport.isOneCaller === true,
    })
  }

  /** Whether this worker has sent a message to the target. */
  hasLink({ name }: Target): boolean {
    return this.#links.has(name)
  }

  /** Replaces the link only after `initialize` succeeded: until then, calls on the old link learn that it is lost. */
  async #begin(target: Target, caller: Caller): Promise<TargetFailure | null> {
    const { key, expiresAt } = this.state
    const link = target.transport.link({ key, target: '', isPassing: this.isPassing })
    const isModern = isSessionless(this.state.version)
    const introduced = await this.introduceBy(link, target, caller)
    if ('code' in introduced) return introduced
    const { response, version } = introduced
    const { result, error } = response.value
    if (!isObject(result)) return refused(isObject(error) ? textAt(error, 'message') : undefined)
    const words = this.#translated(link, version)
    this.introductions.set(target.name, result)
    this.#links.set(target.name, words)
    this.took(target, version)
    if (!this.isPassing) {
      const name = JSON.stringify({ session: link.session, version })
      this.#hub.setTargetSession(key, target.name, name, expiresAt * 1000)
    }
    if (isModern && isSessionless(version)) return null
    const initialized = makeMessage({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return tellInTime(words, initialized, { ...caller, version }, target.limits)
  }

  /** The params of the client's `initialize`. */
  get #initialize(): JsonObject {
    const since = this.#hub.targetSession(this.state.key, INITIALIZE_KEY)
    return since === undefined ? this.state.initialize : (JSON.parse(since) as JsonObject)
  }

  /** Whether a target of this revision has no sessions although the client has one. */
  #isNewer(version: string): boolean {
    return isSessionless(version) && !isSessionless(this.state.version)
  }

  #translated(link: TargetLink, version: string): TargetLink {
    return this.#isNewer(version) ? new NewerLink(link, this.#initialize, this.state.key, this.#hub) : link
  }

  /** Remembers a target without session ids: the next session skips `initialize`. Processes keep state without ids. */
  #noteNameless(target: Target, version: string): void {
    if (this.#nameless === null || !target.transport.isPortable) return
    if (this.link(target).session === '') this.#nameless.add(target.name, version)
  }

  #wasTold({ name }: Target): boolean {
    return this.#versions.has(name) || this.#begunSince(name) !== null
  }

  #begunSince(name: string): { session: string; version: string } | null {
    const text = this.#hub.targetSession(this.state.key, name)
    return text === undefined ? null : (JSON.parse(text) as { session: string; version: string })
  }
}

/** Sends a notification; a timeout is no failure, because the target has the session and the next request will tell. */
function tellInTime(
  link: TargetLink,
  message: RpcMessage,
  caller: Caller,
  { beginMs, deadlines }: TargetLimits,
): Promise<TargetFailure | null> {
  return new Promise((resolve) => {
    const limit = new Deadline(() => resolve(null))
    deadlines.set(limit, beginMs)
    link.tell(message, caller, (failure) => {
      deadlines.clear(limit)
      resolve(failure)
    })
  })
}

function refused(reason: string | undefined): TargetFailure {
  const message = `it refused to begin a session${reason === undefined ? '' : `: ${reason.slice(0, 256)}`}`
  return { code: 'bad_answer', message }
}

/** The hub key of the client's `initialize`; no target has an empty name. */
const INITIALIZE_KEY = ''
