import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { createObject, deleteObject } from '../../../packages/controller/src/kube/objects.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { type Bed, type BedOptions, startBed } from '../bed/bed.ts'
import { install, ownImages, rolledOut } from '../installed.ts'
import * as objects from './objects.ts'

export const PATIENCE_MS = 600_000
const AT_ONCE = 16

/** The two programs that are measured. */
export type MeasuredProgram = 'controller' | 'dataPlane'

/** The Pods of a program, and the ports of their metrics and readiness. */
interface ProgramPods {
  namespace: string
  deployment: string
  label: string
  port: number
  ready: string
  readyPort: number
}

/** A controller of Gateways: how it comes into a bed, and how it is looked at there. */
export interface Contender {
  bed(): BedOptions
  install(bed: Bed): Promise<void>
  /** The class of its Gateways. */
  className: string
  places: { controller: ProgramPods; dataPlane?: ProgramPods }
  /** Whether it has processed that many routes completely. */
  isSettled(scene: Scene, routes: number): Promise<boolean>
}

const portico: Contender = {
  bed: () => ({ images: ownImages() }),
  install,
  className: 'portico',
  places: {
    controller: {
      namespace: 'portico-system',
      deployment: 'portico-controller',
      label: 'app.kubernetes.io/name=portico-controller',
      port: 9979,
      ready: '/readyz',
      readyPort: 9979,
    },
    dataPlane: {
      namespace: objects.NAMESPACE,
      deployment: objects.GATEWAY,
      label: `gateway.networking.k8s.io/gateway-name=${objects.GATEWAY}`,
      port: 15020,
      ready: '/healthz/ready',
      readyPort: 15021,
    },
  },
  isSettled: async (scene, routes) =>
    (await scene.metric('controller', 'portico_controller_objects{kind="HTTPRoute"}')) === routes &&
    (await scene.metric('controller', 'portico_controller_status_backlog')) === 0,
}

/** A program of the bed, and the promise of what it prints. */
interface Inside {
  /** Ends its standard input, which tells it to come to its end. */
  end(): void
  output: Promise<string>
}

/** A bed with the controller, a Gateway, and Services whose addresses are ours to change. */
export class Scene {
  readonly bed: Bed
  /** The address of the load balancer. */
  readonly address: string
  readonly #contender: Contender

  private constructor(bed: Bed, address: string, contender: Contender) {
    this.bed = bed
    this.address = address
    this.#contender = contender
  }

  static async start(contender = portico): Promise<Scene> {
    const echo = { command: [process.execPath, '-e', objects.ECHO_PROGRAM] }
    const { images, ...options } = contender.bed()
    const bed = await startBed({ ...options, images: { ...images, echo } })
    try {
      await contender.install(bed)
      await bed.kubectl('create', 'namespace', objects.NAMESPACE)
      await bed.apply(
        objects.gateway(contender.className),
        objects.rolledRoute(),
        ...objects.COLOURS.flatMap(objects.echo),
      )
      for (const colour of objects.COLOURS) await rolledOut(bed, objects.NAMESPACE, colour)
      const condition = '{.status.conditions[?(@.type=="Programmed")].status} {.status.addresses[0].value}'
      let address = ''
      await eventually(
        'the Gateway is programmed',
        async () => {
          const [is, at] = (await kubectlPath(bed, 'gateway', objects.GATEWAY, condition)).split(' ')
          address = at ?? ''
          return is === 'True'
        },
        PATIENCE_MS,
      )
      const scene = new Scene(bed, address, contender)
      const numbers = Array.from({ length: objects.SERVICES }, (_, index) => index)
      await bed.apply(...numbers.map(objects.service))
      await scene.placeServices()
      return scene
    } catch (error) {
      await bed.stop()
      throw error
    }
  }

  /** Has all Services lead to the Pods that there are now. */
  async placeServices(): Promise<void> {
    const addresses = await this.echoAddresses()
    const numbers = Array.from({ length: objects.SERVICES }, (_, index) => index)
    await this.bed.apply(...numbers.map((index) => objects.slice(index, addresses[index % 2] ?? [])))
  }

  /** The addresses of the Pods, by color. */
  echoAddresses(): Promise<string[][]> {
    return Promise.all(objects.COLOURS.map((colour) => this.#addresses(objects.NAMESPACE, `app=${colour}`)))
  }

  async create(from: number, to: number): Promise<void> {
    await this.each(from, to, (index) => createObject(this.bed.client, objects.ROUTES, objects.route(index)))
  }

  async delete(from: number, to: number): Promise<void> {
    const place = (index: number) => ({ namespace: objects.NAMESPACE, name: objects.routeName(index) })
    await this.each(from, to, (index) => deleteObject(this.bed.client, objects.ROUTES, place(index)))
  }

  /** Several at once, as many as there are answers. */
  async each(from: number, to: number, run: (index: number) => Promise<unknown>): Promise<void> {
    let next = from
    const work = async (): Promise<void> => {
      while (next < to) await run(next++)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }

  /** The sum over all series of a metric. */
  async metric(of: MeasuredProgram, name: string): Promise<number> {
    const { port } = this.#placeOf(of)
    const answer = await fetch(`http://127.0.0.1:${await this.bed.reach(await this.addressOf(of), port)}/metrics`)
    const found = [...(await answer.text()).matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))]
    if (found.length === 0) throw new Error(`${of} has no metric ${name}`)
    return found.reduce((sum, [, value]) => sum + Number(value), 0)
  }

  /** The address of the only Pod. */
  async addressOf(of: MeasuredProgram): Promise<string> {
    const { namespace, label } = this.#placeOf(of)
    const [address = ''] = await this.#addresses(namespace, label)
    return address
  }

  async residentMb(of: MeasuredProgram): Promise<number> {
    return (await this.metric(of, 'process_resident_memory_bytes')) / 1e6
  }

  /** All that was told has been done: every route is live and has its status. */
  async settled(routes: number): Promise<void> {
    await eventually(
      'all is settled',
      // One more leads to Pods that are replaced.
      () => this.#contender.isSettled(this, routes + 1),
      PATIENCE_MS,
    )
    if (routes === 0) return
    await eventually(`route ${routes - 1} is live`, () => this.#serves(routes - 1), PATIENCE_MS)
  }

  async restart(of: MeasuredProgram): Promise<void> {
    const { namespace, deployment } = this.#placeOf(of)
    await this.bed.kubectl('-n', namespace, 'rollout', 'restart', `deployment/${deployment}`)
    await rolledOut(this.bed, namespace, deployment)
    await eventually('only the new Pod is there', () => this.#isAlone(of), PATIENCE_MS)
  }

  /** Those that are about to end count too: they still have connections. */
  async #isAlone(of: MeasuredProgram): Promise<boolean> {
    const { namespace, label } = this.#placeOf(of)
    const names = await this.bed.kubectl('-n', namespace, 'get', 'pods', '-l', label, '-o', 'name')
    return names.trim().split('\n').length === 1
  }

  /** Deletes its Pod; seconds from the start of the next one's process until it is ready. */
  async readyAfter(of: MeasuredProgram): Promise<number> {
    const { namespace, label, ready, readyPort } = this.#placeOf(of)
    const [before = ''] = await this.#addresses(namespace, label)
    await this.bed.kubectl('-n', namespace, 'delete', 'pods', '-l', label, '--wait=false')
    let address = ''
    await eventually(
      'another Pod has an address',
      async () => {
        address = (await this.#addresses(namespace, label)).find((one) => one !== before) ?? ''
        return address !== ''
      },
      PATIENCE_MS,
    )
    const url = `http://127.0.0.1:${await this.bed.reach(address, readyPort)}${ready}`
    const isReady = (): Promise<boolean> => fetch(url).then(({ ok }) => ok, isFalse)
    await eventually('it is ready', isReady, PATIENCE_MS)
    const readyAt = Date.now()
    await eventually('the one before is gone', () => this.#isAlone(of), PATIENCE_MS)
    return readyAt / 1000 - (await this.metric(of, 'process_start_time_seconds'))
  }

  /** Runs a script of this folder with an order. */
  inside(script: string, order: object): Inside {
    const file = fileURLToPath(new URL(script, import.meta.url))
    const [program = '', ...words] = this.bed.enter([process.execPath, file, JSON.stringify(order)])
    const child = spawn(program, words, {
      env: { ...process.env, ...this.bed.environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const output = Promise.all([text(child.stdout), once(child, 'close')]).then(([printed, [code]]) => {
      if (code !== 0) throw new Error(`${script} ended with ${String(code)}`)
      return printed
    })
    return { end: () => child.stdin.end(), output }
  }

  #placeOf(of: MeasuredProgram): ProgramPods {
    const place = this.#contender.places[of]
    if (place === undefined) throw new Error(`${this.#contender.className} does not tell of its ${of}`)
    return place
  }

  async #serves(index: number): Promise<boolean> {
    const url = `http://${this.address}${objects.pathOfRoute(index)}`
    const { code } = await this.bed.exec(['curl', '-sf', '-m', '5', '-H', `host: ${objects.hostOf(index)}`, url])
    return code === 0
  }

  async #addresses(namespace: string, label: string): Promise<string[]> {
    const path = '-o=jsonpath={range .items[*]}{.metadata.deletionTimestamp},{.status.podIP} {end}'
    const found = await this.bed.kubectl('-n', namespace, 'get', 'pods', '-l', label, path)
    return found.split(' ').flatMap((one) => (one.startsWith(',') && one.length > 1 ? [one.slice(1)] : []))
  }
}

async function kubectlPath(bed: Bed, kind: string, name: string, path: string): Promise<string> {
  return bed.kubectl('-n', objects.NAMESPACE, 'get', kind, name, '-o', `jsonpath=${path}`)
}

const isFalse = (): boolean => false
