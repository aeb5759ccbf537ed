import { loadResourceChecks, type ResourceChecks } from '@portico/gateway/checks'
import { parseLogFilter, type RootLogger } from '@portico/gateway/log'
import { testPolicy } from '@portico/gateway/policy-tests'
import { Controller } from './controller.ts'
import { objectName } from './deploy/names.ts'
import type { DeploySettings } from './deploy/render.ts'
import { findConnection } from './kube/find-connection.ts'
import { KubeClient } from './kube/kube-client.ts'
import { reviewToken } from './kube/token-review.ts'
import { Leadership, waitForValue } from './leadership.ts'
import { Metrics } from './metrics.ts'
import { measureProcess, measureStreams } from './process-metrics.ts'
import { Peers } from './peers/peers.ts'
import { CertificateKeeper } from './publish/certificate-keeper.ts'
import { listenForDataPlanes } from './publish/listen.ts'
import { Publisher } from './publish/publisher.ts'
import { startServers } from './servers.ts'
import type { Settings } from './settings.ts'
import { VERSION } from './version.ts'

const AUDIENCE = 'portico'
/** The name of the Secret with the authorities. */
const AUTHORITY_SECRET = 'portico-controller-ca'
/** The limits of one run of the tests of a GwPolicy; docs/verified-reloads.md names them. */
const TEST_LIMITS = { ms: 20_000, heapMb: 256 }

interface RunOptions {
  settings: Settings
  logger: RootLogger
  signal: AbortSignal
}

/** Runs a controller until the signal aborts and everything is closed. */
export async function run(options: RunOptions): Promise<void> {
  const program = new Program(options, await loadResourceChecks())
  await program.run()
}

class Program {
  readonly #settings: Settings
  readonly #logger: RootLogger
  readonly #signal: AbortSignal
  readonly #client: KubeClient
  readonly #metrics = new Metrics()
  readonly #keeper: CertificateKeeper
  readonly #publisher: Publisher
  readonly #peers: Peers
  readonly #controller: Controller
  #isServing = false

  constructor({ settings, logger, signal }: RunOptions, checks: ResourceChecks) {
    this.#settings = settings
    this.#logger = logger
    this.#signal = signal
    this.#client = new KubeClient(findConnection(settings.kubeconfig))
    this.#keeper = this.#createKeeper()
    this.#publisher = new Publisher({
      review: (token) => reviewToken(this.#client, token, AUDIENCE),
      serviceAccountOf: (gateway) => objectName(gateway.slice(gateway.indexOf('/') + 1)),
      changed: (gateway) => this.#controller.stateChanged(gateway),
      log: logger.child('publish'),
    })
    const publisher = this.#publisher
    this.#peers = this.#createPeers()
    this.#controller = new Controller({
      client: this.#client,
      streams: {
        publish: (gateway, ir) => publisher.publish(gateway, ir),
        reach: (gateway, endpoints) => publisher.reach(gateway, endpoints),
        retire: (gateway) => publisher.retire(gateway),
        connected: () => publisher.connected(),
        stateOf: (gateway) =>
          this.#peers.complete(gateway, publisher.stateOf(gateway), publisher.generationOf(gateway)),
      },
      peers: this.#peers,
      controllerName: settings.controllerName,
      clusterDomain: settings.clusterDomain,
      externalNames: settings.externalNames,
      checks,
      namespace: settings.namespace,
      namespaces: settings.namespaces,
      namespaceSelector: settings.namespaceSelector,
      deploy: this.#deploySettings(),
      testPolicy: (job, signal) => testPolicy(job, { ...TEST_LIMITS, signal }),
      log: (module) => logger.child(module),
      metrics: this.#metrics,
    })
  }

  async run(): Promise<void> {
    const log = this.#logger.child('controller')
    const servers = await startServers({
      ...this.#settings,
      pending: () => this.#pending(),
      metrics: () => this.#printMetrics(),
      logFilter: () => this.#logger.filter().text,
      setLogFilter: (text) => {
        const filter = parseLogFilter(text)
        if (filter.ok) this.#logger.setFilter(filter.value)
        return filter.ok ? null : filter.problem
      },
    })
    const { health, admin } = servers
    log.info('started', { version: VERSION, health: health.join(), admin: admin.join() })
    // When one task fails, all stop, and the service manager restarts the program.
    const failed = new AbortController()
    const signal = AbortSignal.any([this.#signal, failed.signal])
    const parts = [
      this.#keeper.run(signal),
      this.#controller.run(signal),
      this.#serve(signal),
      this.#leadership().run(signal),
    ]
    try {
      await Promise.all(parts)
    } finally {
      failed.abort()
      await Promise.allSettled(parts)
      await this.#publisher.close()
      await servers.close()
      this.#client.close()
    }
  }

  #createKeeper(): CertificateKeeper {
    const { namespace, serviceName, controllerAddress, clusterDomain } = this.#settings
    const log = this.#logger.child('certificates')
    const service = `${serviceName}.${namespace}.svc`
    const host = controllerAddress.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
    let bundle: string | undefined
    return new CertificateKeeper(this.#client, {
      namespace,
      secret: AUTHORITY_SECRET,
      names: [...new Set([host, service, `${service}.${clusterDomain}`])],
      changed: () => {
        const { identity } = this.#keeper
        if (identity !== undefined && this.#isServing) this.#publisher.renew(identity)
        if (this.#keeper.bundle !== bundle) this.#controller.redeploy()
        bundle = this.#keeper.bundle
      },
      onError: (problem) => log.warn('certificate authorities could not be read or renewed, retrying', { problem }),
    })
  }

  #createPeers(): Peers {
    const { namespace, serviceName, podName } = this.#settings
    return new Peers({
      service: `${namespace}/${serviceName}`,
      pod: podName,
      serverName: `${serviceName}.${namespace}.svc`,
      identity: () => this.#keeper.identity,
      changed: (gateways) => {
        for (const gateway of gateways) this.#controller.stateChanged(gateway)
      },
      peersChanged: () => this.#controller.peersChanged(),
      log: this.#logger.child('peers'),
    })
  }

  /** Read for every deployment, because the CA bundle changes now and then. */
  #deploySettings(): DeploySettings {
    const { image, controllerAddress: address } = this.#settings
    const keeper = this.#keeper
    return {
      image,
      version: VERSION,
      get controller() {
        return { address, ca: keeper.bundle ?? '' }
      },
    }
  }

  /** Listens for data planes as soon as there is a serving certificate. */
  async #serve(signal: AbortSignal): Promise<void> {
    const identity = await waitForValue(() => this.#keeper.identity, signal)
    if (identity === undefined) return
    const bound = await listenForDataPlanes(this.#publisher, identity, this.#settings.streamAddress)
    this.#isServing = true
    this.#logger.child('publish').info('listening for data planes', bound)
  }

  #leadership(): Leadership {
    return new Leadership({
      client: this.#client,
      settings: this.#settings,
      keeper: this.#keeper,
      controller: this.#controller,
      log: this.#logger.child('election'),
    })
  }

  #pending(): readonly string[] {
    if (this.#signal.aborted) return ['the end']
    return [...this.#controller.pending, ...(this.#isServing ? [] : ['streams'])]
  }

  #printMetrics(): string {
    this.#controller.measure()
    measureStreams(this.#metrics, this.#publisher.counts)
    measureProcess(this.#metrics)
    return this.#metrics.print()
  }
}
