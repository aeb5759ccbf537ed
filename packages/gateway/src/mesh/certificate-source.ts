import { readFileSync } from 'node:fs'
import type { SpiffeId } from '../formats/spiffe.ts'
import { formatSpiffe } from '../formats/spiffe.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import { callCa } from './ca-client.ts'
import { LONGEST_TIMER_MS, type MeshCertificate } from './identity.ts'
import { checkIssued, isTrusted } from './issued-certificate.ts'
import type { MeshState } from './received-identity.ts'
import { createSigningRequest } from './signing-request.ts'

export interface CertificateSourceOptions {
  /** Host and port of the CA. */
  ca: { host: string; port: number }
  identity: SpiffeId
  clusterId: string
  /** Both files are read for every request: tokens and roots are replaced while the process runs. */
  tokenFile: string
  rootFile: string
  /** Called with every new certificate, root or failure. */
  changed: (state: MeshState) => void
  log: Logger
  /** Milliseconds since 1970. */
  clock?: () => number
  /** Uniform in [0, 1). */
  random?: () => number
  /** Life of certificates that the CA is asked for; the CA may shorten it. */
  validitySeconds?: number
  /** Pauses after failures double from the first to the longest. */
  firstPauseMs?: number
  longestPauseMs?: number
  rootPollMs?: number
}

/**
 * Obtains the certificate of this gateway from the CA of the mesh, and renews it at half of its life. The certificate
 * stays in use while renewals fail, until it expires.
 */
export class CertificateSource {
  readonly #options: Required<CertificateSourceOptions>
  readonly counts = { success: 0, failure: 0 }
  #certificate: MeshCertificate | null = null
  #failure: string | null = null
  /** When the certificate was obtained, in milliseconds since 1970. */
  #obtainedAt = 0
  #failures = 0
  #hasLoggedExpiry = false
  #isObtaining = false
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #rootPoll: NodeJS.Timeout | undefined

  constructor(options: CertificateSourceOptions) {
    this.#options = {
      clock: Date.now,
      random: Math.random,
      validitySeconds: 86_400,
      firstPauseMs: 1_000,
      longestPauseMs: 60_000,
      rootPollMs: 10_000,
      ...options,
    }
  }

  start(): void {
    void this.#obtain()
    this.#rootPoll = setInterval(() => this.#checkRoots(), this.#options.rootPollMs)
    this.#rootPoll.unref()
  }

  get state(): MeshState {
    return { certificate: this.#certificate, failure: this.#failure }
  }

  /** The age of the certificate in seconds; null without one. */
  get ageSeconds(): number | null {
    return this.#certificate === null ? null : Math.max(0, (this.#options.clock() - this.#obtainedAt) / 1000)
  }

  /** The expiry of the certificate in seconds since 1970; null without one. */
  get notAfterSeconds(): number | null {
    return this.#certificate === null ? null : Math.floor(this.#certificate.notAfter / 1000)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#rootPoll)
  }

  async #obtain(): Promise<void> {
    if (this.#isObtaining) return
    this.#isObtaining = true
    clearTimeout(this.#timer)
    const outcome = await this.#request().catch(() => ({ problem: 'an internal error occurred' }))
    this.#isObtaining = false
    if (this.#isClosed) return
    if ('problem' in outcome) this.#failed(outcome.problem)
    else this.#obtained(outcome)
  }

  async #request(): Promise<Omit<MeshCertificate, 'version'> | { problem: string }> {
    const { ca, identity, clusterId, tokenFile, rootFile, validitySeconds, clock } = this.#options
    const token = readText(tokenFile)
    if ('problem' in token) return token
    if (!/^[\x21-\x7e]+$/.test(token.text.trim())) return { problem: `${tokenFile} has no token` }
    const roots = readText(rootFile)
    if ('problem' in roots) return roots
    const { key, csr } = createSigningRequest(formatSpiffe(identity))
    const call = { ...ca, roots: roots.text, token: token.text.trim(), clusterId, csr, validitySeconds }
    const called = await callCa(call)
    if ('problem' in called) return called
    const issued = checkIssued(called.chain, { key, identity, roots: roots.text, now: clock() })
    return 'problem' in issued ? issued : { ...issued, key, roots: roots.text }
  }

  #obtained(certificate: Omit<MeshCertificate, 'version'>): void {
    const { clock, random, log, identity, firstPauseMs } = this.#options
    this.counts.success++
    this.#failures = 0
    this.#failure = null
    this.#hasLoggedExpiry = false
    this.#obtainedAt = clock()
    this.#replace(certificate)
    const lifeMs = certificate.notAfter - this.#obtainedAt
    // Many gateways start at the same time, so the renewal is spread over a tenth of the life.
    const renewalMs = lifeMs * (0.5 - 0.1 * random())
    // A CA that issues certificates of no life must not be called without a pause.
    this.#schedule(Math.min(Math.max(renewalMs, firstPauseMs), LONGEST_TIMER_MS))
    const expiry = new Date(certificate.notAfter).toISOString()
    log.info('mesh certificate obtained', { identity: formatSpiffe(identity), expiry })
  }

  #failed(problem: string): void {
    const { random, log, firstPauseMs, longestPauseMs, clock } = this.#options
    this.counts.failure++
    const isNew = problem !== this.#failure
    this.#failure = problem
    const pause = Math.min(firstPauseMs * 2 ** Math.min(this.#failures++, 16), longestPauseMs)
    this.#schedule(pause * (0.5 + 0.5 * random()))
    const isExpired = this.#certificate !== null && clock() >= this.#certificate.notAfter
    if (isExpired && !this.#hasLoggedExpiry) {
      this.#hasLoggedExpiry = true
      log.error('mesh certificate expired, connections of the mesh fail', { cause: problem })
    } else if (isNew) log.warn('no new mesh certificate, retrying', { cause: problem })
    else log.debug('no new mesh certificate, retrying', { cause: problem })
    this.#options.changed(this.state)
  }

  /** New roots apply at once; a certificate that they do not trust is replaced. */
  #checkRoots(): void {
    const certificate = this.#certificate
    if (certificate === null || this.#isObtaining) return
    const roots = readText(this.#options.rootFile)
    if ('problem' in roots || roots.text === certificate.roots) return
    let isGood: boolean
    try {
      isGood = isTrusted(certificate.chain, roots.text)
    } catch {
      return
    }
    this.#options.log.info('mesh roots changed', { renews: !isGood })
    if (isGood) this.#replace({ ...certificate, roots: roots.text })
    else void this.#obtain()
  }

  #replace(certificate: Omit<MeshCertificate, 'version'>): void {
    this.#certificate = { ...certificate, version: (this.#certificate?.version ?? 0) + 1 }
    this.#options.changed(this.state)
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#obtain(), ms)
    this.#timer.unref()
  }
}

function readText(file: string): { text: string } | { problem: string } {
  try {
    const text = readFileSync(file, 'utf8')
    return text.trim() === '' ? { problem: `${file} is empty` } : { text }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return { problem: `${file} cannot be read (${code})` }
  }
}
