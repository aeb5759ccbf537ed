import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { run } from './commands.ts'
import { NODE_ADDRESS } from './node-settings.ts'
import type { PodSpec } from './pod-types.ts'

/** A network namespace with one address, which the node routes to. */
export class PodNetwork {
  static #count = 0
  readonly #number = (PodNetwork.#count += 1)
  #holder: ChildProcess | undefined

  get address(): string {
    return `10.244.${1 + (this.#number >> 8)}.${this.#number & 255}`
  }

  /** The beginning of a command that runs in this network. */
  get prefix(): readonly string[] {
    return this.#holder === undefined ? [] : ['nsenter', '-t', String(this.#holder.pid), '-n']
  }

  async start(spec: PodSpec): Promise<void> {
    // A namespace lives as long as a process in it.
    this.#holder = spawn('unshare', ['-n', 'sh', '-c', 'echo made; exec sleep infinity'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    if (this.#holder.stdout !== null) await once(this.#holder.stdout, 'data')
    const [link, { address }, pid] = [`pod${this.#number}`, this, this.#holder.pid]
    await run(
      'sh',
      '-ec',
      `ip link add ${link} type veth peer name eth0 netns ${pid}
      ip link set ${link} up
      ip route replace ${address}/32 dev ${link} src ${NODE_ADDRESS}`,
    )
    const [program = '', ...args] = this.prefix
    // As container runtimes do, so that port 80 needs no root.
    const sysctls = [
      { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' },
      ...(spec.securityContext?.sysctls ?? []),
    ]
    await run(
      program,
      ...args,
      'sh',
      '-ec',
      `ip link set lo up
      ip link set eth0 up
      ip addr add ${address}/32 dev eth0
      ip route add ${NODE_ADDRESS} dev eth0 scope link
      ip route add default via ${NODE_ADDRESS} dev eth0
      ${sysctls.map(({ name, value }) => `echo ${value} > /proc/sys/${name.replaceAll('.', '/')}`).join('\n')}`,
    )
  }

  stop(): void {
    this.#holder?.kill('SIGKILL')
  }
}
