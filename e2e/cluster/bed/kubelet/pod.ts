import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { KubeClient } from '../../../../packages/controller/src/kube/kube-client.ts'
import { Backoff } from '../../../../packages/controller/src/kube/backoff.ts'
import { type ApiKind, pathOf } from '../../../../packages/controller/src/kube/kinds.ts'
import { isOutdated, PODS } from './cluster.ts'
import { Container } from './container.ts'
import { environmentOf } from './environment.ts'
import { imageFor, type Images, NODE_ADDRESS, now } from './node-settings.ts'
import { resolverConfig } from './name-server.ts'
import { PodNetwork } from './pod-network.ts'
import { type Condition, statusOf } from './pod-status.ts'
import type { PodObject } from './pod-types.ts'
import { watchContainer } from './probes.ts'
import { Volumes } from './volumes.ts'

interface PodSettings {
  client: KubeClient
  images: Images
  /** For all Pods. */
  folder: string
}

/** A Pod on this node, from its first look to its end. */
export class Pod {
  readonly containers: readonly Container[]
  readonly network = new PodNetwork()
  object: PodObject
  readonly #settings: PodSettings
  readonly #folder: string
  readonly #volumes: Volumes
  readonly #startedAt = now()
  readonly #stopping = new AbortController()
  #conditions: readonly Condition[] = []
  #reporting: Promise<void> = Promise.resolve()
  #isReportWanted = false

  constructor(object: PodObject, settings: PodSettings) {
    this.object = object
    this.#settings = settings
    this.#folder = join(settings.folder, object.metadata.uid)
    this.#volumes = new Volumes(settings.client, object, join(this.#folder, 'volumes'), this.address)
    const { initContainers = [], containers } = object.spec
    this.containers = [
      ...initContainers.map((spec) => new Container(spec, true)),
      ...containers.map((spec) => new Container(spec, false)),
    ]
  }

  get address(): string {
    return this.object.spec.hostNetwork === true ? NODE_ADDRESS : this.network.address
  }

  get name(): string {
    return `${this.object.metadata.namespace}/${this.object.metadata.name}`
  }

  get isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  async start(): Promise<void> {
    mkdirSync(this.#folder, { recursive: true })
    if (this.object.spec.hostNetwork !== true) await this.network.start(this.object.spec)
    if (this.isStopping) return this.network.stop()
    this.#report()
    await this.#writeVolumes()
    for (const container of this.containers.filter(({ isInit }) => isInit)) {
      await this.#keep(container)
      container.isReady = true
    }
    for (const container of this.containers.filter(({ isInit }) => !isInit)) void this.#keep(container)
  }

  /** A Secret or a ConfigMap of its namespace has changed. */
  refresh(kind: ApiKind, name: string): void {
    if (!this.isStopping && this.#volumes.uses(kind, name)) this.#volumes.rewrite()
  }

  /** Asks its containers to end, and ends them when they take too long. */
  async stop(graceSeconds: number): Promise<void> {
    if (this.isStopping) {
      if (graceSeconds === 0) this.end()
      return
    }
    this.#stopping.abort()
    this.#volumes.close()
    this.#report()
    for (const container of this.containers) container.kill('SIGTERM')
    const limit = performance.now() + graceSeconds * 1000
    while (this.containers.some(({ pid }) => pid !== undefined) && performance.now() < limit) await wait(20)
    this.end()
    await this.#remove()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** At once. */
  end(): void {
    for (const container of this.containers) container.kill('SIGKILL')
    this.network.stop()
  }

  log(what: unknown): void {
    console.log(new Date().toISOString(), this.name, what instanceof Error ? what.message : what)
  }

  async #remove(): Promise<void> {
    const { namespace, name, uid } = this.object.metadata
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } }
    await this.#settings.client
      .ask({ method: 'DELETE', path: pathOf(PODS, { namespace, name }), body })
      .catch((error: unknown) => !isOutdated(error) && this.log(error))
  }

  /** Writes the volumes; waits for Secrets and ConfigMaps that are created after the Pod. */
  async #writeVolumes(): Promise<void> {
    let last = ''
    while (!this.isStopping) {
      try {
        return await this.#volumes.write()
      } catch (error) {
        const text = String(error)
        if (text !== last) this.log(`waits for a volume: ${text}`)
        last = text
        await this.#pause(200)
      }
    }
  }

  /** Runs a container again and again, or, as its Pod wishes, until it has done its work. */
  async #keep(container: Container): Promise<void> {
    const policy = this.object.spec.restartPolicy ?? 'Always'
    const backoff = new Backoff({ firstMs: 400, mostMs: 10_000 })
    while (!this.isStopping) {
      const code = await this.#runOnce(container)
      const mayRest = container.isInit ? code === 0 : policy === 'Never' || (policy === 'OnFailure' && code === 0)
      if (code !== undefined && mayRest) container.isDone = true
      if (container.isDone || this.isStopping) break
      if (code !== undefined) container.restarts += 1
      this.#report()
      await this.#pause(backoff.next())
    }
    this.#report()
  }

  /** The exit code; undefined when it could not be started. */
  async #runOnce(container: Container): Promise<number | undefined> {
    const { spec } = container
    const running = new AbortController()
    try {
      const image = imageFor(this.#settings.images, spec.image)
      if (image === undefined) throw new NoImage(`no program stands for the image ${spec.image}`)
      const environment = await environmentOf(this.#settings.client, this.object, spec, this.address)
      if (this.isStopping) return undefined
      const around = {
        pod: this.object.spec,
        image,
        environment,
        prefix: this.network.prefix,
        folder: join(this.#folder, 'containers', spec.name),
        volumeFolder: (name: string) => this.#volumes.folderOf(name),
        resolver: resolverConfig(this.object.metadata.namespace),
      }
      const code = await container.run(around, () => this.#watch(container, running.signal))
      if (!this.isStopping) this.log(`${spec.name} ended with ${code}: ${lastWords(container)}`)
      return code
    } catch (error) {
      const reason = error instanceof NoImage ? 'ErrImagePull' : 'CreateContainerConfigError'
      container.state = { waiting: { reason, message: error instanceof Error ? error.message : String(error) } }
      this.log(error)
      return undefined
    } finally {
      running.abort()
      this.#report()
    }
  }

  #watch(container: Container, running: AbortSignal): void {
    this.#report()
    if (container.isInit) return
    const signal = AbortSignal.any([running, this.#stopping.signal])
    const handlers = {
      changed: () => this.#report(),
      failed: (probe: string) => {
        this.log(`${container.spec.name}: the ${probe} probe failed`)
        container.kill('SIGTERM')
      },
    }
    watchContainer(container, this.address, handlers, signal).catch((error: unknown) => this.log(error))
  }

  /** One write at a time, of what is true then. */
  #report(): void {
    if (this.#isReportWanted) return
    this.#isReportWanted = true
    this.#reporting = this.#reporting.then(async () => {
      this.#isReportWanted = false
      const { namespace, name, uid, generation } = this.object.metadata
      const { conditions, status } = statusOf(this, this.#conditions, this.#startedAt)
      this.#conditions = conditions
      const path = pathOf(PODS, { namespace, name, part: 'status' })
      const body = { metadata: { uid }, status: { ...status, observedGeneration: generation } }
      try {
        await this.#settings.client.ask({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body })
      } catch (error) {
        if (isOutdated(error)) return
        this.log(error)
        await this.#pause(300)
        this.#report()
      }
    })
  }

  async #pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
  }
}

class NoImage extends Error {}

function lastWords({ logs }: Container): string {
  return logs
    .lines(0, 3)
    .map(({ text }) => text)
    .join(' | ')
}
