import { isObject, type JsonObject, objectAt, textAt } from '@portico/http/json'
import { Deadline } from '@portico/http'
import { NewerLink } from '../targets/newer-target.ts'
import type { Target, TargetLimits } from '../targets/target.ts'
import type { Hub } from '../hub.ts'
import { makeMessage, type RpcMessage } from '../message.ts'
import { Owners } from '../owners.ts'
import { isSessionless } from '../revisions.ts'
import type { Caller, TargetFailure, TargetLink } from '../transport.ts'
import { introduce } from './introduce.ts'
import type { SessionState, TargetState } from './state.ts'

export interface LiveSessionOptions {
  /** No id was given out for it: it lasts for one request. */
  isPassing: boolean
  owners?: Owners
  /** Revisions of targets that name no sessions, and need not be told of one. */
  nameless?: NamelessTargets
}

export interface NamelessTargets {
  versionOf(target: string): string | undefined
  add(target: string, version: string): void
}

/** A session as one worker has it at hand. */
export class LiveSession {
  readonly state: SessionState
  readonly isPassing: boolean
  /** Whose names are, as far as lists of this session have shown. */
  readonly owners: Owners
  /** What targets said of themselves when they were told of the session here. */
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

  /** What the client said it can be asked. */
  get abilities(): JsonObject {
    return objectAt(this.state.initialize, 'capabilities')
  }

  /** Whether the target has been told of the session, or needs no telling. */
  knows(target: Target): boolean {
    return this.#wasTold(target) || this.isAssumed(target)
  }

  /** It was not told: others like it needed no telling. */
  isAssumed(target: Target): boolean {
    return !this.#wasTold(target) && this.#nameless?.versionOf(target.name) !== undefined
  }

  /** The target in this session, as it calls it by now: another worker may have begun anew with it. */
  link(target: Target): TargetLink {
    const { name, transport } = target
    const { key, targets } = this.state
    const since = this.#begunSince(name)
    const session = since?.session ?? targets.find((known) => known.name === name)?.session ?? ''
    const before = this.#links.get(name)
    const version = this.versionAt(target)
    // What it was begun with may be in other words: who it is was not known then.
    const isUnderstood = before instanceof NewerLink || !this.#isNewer(version)
    if (before !== undefined && isUnderstood && (since === null || before.session === session)) return before
    const link = this.#inItsWords(transport.link({ key, target: session, isPassing: this.isPassing }), version)
    this.#links.set(name, link)
    return link
  }

  versionAt({ name }: Target): string {
    const known = this.#begunSince(name)?.version ?? this.#versions.get(name)
    return known ?? this.#nameless?.versionOf(name) ?? this.state.version
  }

  /** For a target that took part in the beginning. */
  took(target: Target, version: string): void {
    this.#versions.set(target.name, version)
    this.#noteNameless(target, version)
  }

  /** Remembers a beginning that the id cannot tell, because the client has had it before. */
  remember(initialize: JsonObject, targets: readonly TargetState[]): void {
    const { key, expiresAt } = this.state
    this.#hub.setTargetSession(key, BEGINNING, JSON.stringify(initialize), expiresAt * 1000)
    for (const { name, session, version } of targets) {
      this.#hub.setTargetSession(key, name, JSON.stringify({ session, version }), expiresAt * 1000)
      // It says who the client is, which was not known before.
      if (this.#links.get(name) instanceof NewerLink) this.#links.delete(name)
    }
  }

  /**
   * Tells the target of the session, for the first time or once more; whoever asks meanwhile waits for the same. `lost`
   * is the link that the target did not know: when another one is in place by now, somebody has begun anew already.
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

  /** Tells the target of the session by this link, in the name of the client. */
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

  /** Whether anything was said to the target here. */
  hasLink({ name }: Target): boolean {
    return this.#links.has(name)
  }

  /** The link takes its place only once the target knows the session: until then the old one tells that it is lost. */
  async #begin(target: Target, caller: Caller): Promise<TargetFailure | null> {
    const { key, expiresAt } = this.state
    const link = target.transport.link({ key, target: '', isPassing: this.isPassing })
    const isModern = isSessionless(this.state.version)
    const introduced = await this.introduceBy(link, target, caller)
    if ('code' in introduced) return introduced
    const { response, version } = introduced
    const { result, error } = response.value
    if (!isObject(result)) return refused(isObject(error) ? textAt(error, 'message') : undefined)
    const words = this.#inItsWords(link, version)
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

  /** Params of the client's `initialize`. */
  get #initialize(): JsonObject {
    const since = this.#hub.targetSession(this.state.key, BEGINNING)
    return since === undefined ? this.state.initialize : (JSON.parse(since) as JsonObject)
  }

  /** The target knows no sessions, and the client has one. */
  #isNewer(version: string): boolean {
    return isSessionless(version) && !isSessionless(this.state.version)
  }

  #inItsWords(link: TargetLink, version: string): TargetLink {
    return this.#isNewer(version) ? new NewerLink(link, this.#initialize, this.state.key, this.#hub) : link
  }

  /** Where a target keeps nothing, whoever comes next may ask at once. Processes have no names for what they keep. */
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

/** A target that does not take the word in time has the session all the same: what it is asked next will tell. */
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

/** No target can have this name. */
const BEGINNING = ''
