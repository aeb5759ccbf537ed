import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '@portico/gateway/log'
import type { Controller } from './controller.ts'
import type { KubeClient } from './kube/kube-client.ts'
import { Election } from './kube/lease.ts'
import type { CertificateKeeper } from './publish/certificate-keeper.ts'
import type { Settings } from './settings.ts'

/** The name of the Lease. */
const LEASE = 'portico-controller'

interface LeadershipOptions {
  client: KubeClient
  settings: Pick<Settings, 'namespace' | 'podName' | 'leaderElection'>
  keeper: CertificateKeeper
  controller: Controller
  log: Logger
}

/** Runs the election among several controllers, and the leader's work while this one leads. */
export class Leadership {
  readonly #options: LeadershipOptions

  constructor(options: LeadershipOptions) {
    this.#options = options
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, settings, log } = this.#options
    const { namespace, podName, leaderElection } = settings
    if (!leaderElection) return this.#lead(signal)
    const identity = `${podName}_${crypto.randomUUID()}`
    const onError = (error: unknown): void => log.warn('leader election failed, retrying', { error })
    const election = new Election(client, { namespace, name: LEASE, identity, onError })
    let leading = Promise.resolve()
    await election.run(signal, (untilThen) => {
      log.info('leading')
      leading = this.#lead(untilThen)
    })
    await leading
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { keeper, controller, log } = this.#options
    keeper.lead(signal)
    // Deployments wait for the CA, because Pods without it could not connect.
    const bundle = await waitForValue(() => keeper.bundle, signal)
    if (bundle !== undefined) controller.lead()
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    await controller.follow()
    log.info('stopped leading')
  }
}

/** Polls until `find` returns a value; undefined when the signal aborts first. */
export async function waitForValue<Value>(
  find: () => Value | undefined,
  signal: AbortSignal,
): Promise<Value | undefined> {
  while (!signal.aborted) {
    const found = find()
    if (found !== undefined) return found
    await wait(50, undefined, { signal }).catch(() => undefined)
  }
  return undefined
}
