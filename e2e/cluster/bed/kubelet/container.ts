import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { quoted } from './commands.ts'
import type { Environment } from './environment.ts'
import { Logs } from './logs.ts'
import { type Image, now } from './node-settings.ts'
import type { ContainerSpec, PodSpec, SecurityContext } from './pod-types.ts'

interface TerminatedState {
  terminated: { exitCode: number; reason: string; startedAt: string; finishedAt: string }
}

type State = { waiting: { reason: string; message?: string } } | { running: { startedAt: string } } | TerminatedState

/** Everything that a container needs besides its own spec. */
interface Surroundings {
  pod: PodSpec
  image: Image
  environment: Environment
  /** The beginning of the command, which enters the Pod's network. */
  prefix: readonly string[]
  /** A folder of this container only. */
  folder: string
  volumeFolder: (name: string) => string
  resolver: string
}

/** A container as a process: its own mounts over the machine's root, the Pod's network, a user and a process group. */
export class Container {
  readonly spec: ContainerSpec
  readonly isInit: boolean
  readonly logs = new Logs()
  isReady = false
  hasStarted = false
  isDone = false
  restarts = 0
  state: State = { waiting: { reason: 'ContainerCreating' } }
  last: TerminatedState | undefined
  #child: ChildProcess | undefined
  #prefix: readonly string[] = []
  #env: Readonly<Record<string, string>> = {}

  constructor(spec: ContainerSpec, isInit: boolean) {
    this.spec = spec
    this.isInit = isInit
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Runs it to its end; `started` is called when it runs. The exit code. */
  async run(around: Surroundings, started: () => void): Promise<number> {
    const startedAt = now()
    const [program, ...args] = [...around.prefix, 'unshare', '-m', 'sh', '-c', this.#script(around)]
    this.#env = { ...around.environment.values, ...around.image.env }
    this.#prefix = rights(around.pod, this.spec.securityContext)
    const child = spawn(program, args, { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.#child = child
    this.logs.read(child.stdout)
    this.logs.read(child.stderr)
    this.state = { running: { startedAt } }
    this.hasStarted = this.spec.startupProbe === undefined
    started()
    const exitCode = await new Promise<number>((resolve) => {
      child.once('error', () => resolve(128))
      child.once('exit', (code) => resolve(code ?? 137))
    })
    // Stops the processes that the container has started.
    this.kill('SIGKILL')
    this.#child = undefined
    this.isReady = false
    this.hasStarted = false
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    this.last = { terminated: { exitCode, reason, startedAt, finishedAt: now() } }
    this.state = this.last
    return exitCode
  }

  /** Starts another command inside of it. */
  exec(command: readonly string[]): ChildProcess {
    if (this.pid === undefined) throw new Error(`container ${this.spec.name} does not run`)
    const inside = ['-t', String(this.pid), '-m', '-n', '-r', ...this.#prefix]
    return spawn('nsenter', [...inside, ...command], { env: this.#env, stdio: ['pipe', 'pipe', 'pipe'] })
  }

  /** Its own process is asked, or the whole group is ended. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.pid === undefined) return
    try {
      process.kill(signal === 'SIGKILL' ? -this.pid : this.pid, signal)
    } catch {
      // It has ended already.
    }
  }

  #script({ pod, image, environment: { expand }, folder, volumeFolder, resolver }: Surroundings): string {
    const { command, args, volumeMounts = [], workingDir = image.workingDir ?? '/', securityContext } = this.spec
    const own = (image.ignoresArguments ? undefined : args) ?? (command === undefined ? image.args : undefined) ?? []
    const words = [...(command ?? image.command), ...own].map(expand)
    for (const name of ['upper', 'work', 'root']) mkdirSync(join(folder, name), { recursive: true })
    const root = join(folder, 'root')
    mkdirSync(join(folder, 'upper', 'etc'), { recursive: true })
    writeFileSync(join(folder, 'upper', 'etc', 'resolv.conf'), resolver)
    const script = [
      'set -e',
      `mount -t overlay overlay -o lowerdir=/,upperdir=${folder}/upper,workdir=${folder}/work ${root}`,
      ...['proc', 'sys', 'dev'].map((name) => `mount --rbind /${name} ${root}/${name}`),
    ]
    for (const { name, mountPath, subPath, readOnly } of volumeMounts) {
      const from = join(volumeFolder(name), subPath ?? '')
      const place = join(root, withoutLinks(mountPath))
      const to = quoted(place)
      if (!existsSync(from)) mkdirSync(from, { recursive: true })
      const isFile = statSync(from).isFile()
      script.push(isFile ? `mkdir -p ${quoted(dirname(place))}; touch ${to}` : `mkdir -p ${to}`)
      script.push(`mount --bind ${quoted(from)} ${to}`)
      if (readOnly === true) script.push(`mount -o remount,ro,bind ${to}`)
    }
    // Programs of the checkout are what images run: also where a volume lies over it, or it is a mount of its own.
    const checkout = join(root, CHECKOUT)
    script.push(`mkdir -p ${quoted(checkout)}`, `mount --rbind ${quoted(CHECKOUT)} ${quoted(checkout)}`)
    script.push(`mount -o remount,ro,bind ${quoted(checkout)}`)
    // Every place for a mount is made by now; the mounts themselves stay as they are.
    if (securityContext?.readOnlyRootFilesystem === true) script.push(`mount -o remount,ro ${root}`)
    const inside = [...rights(pod, securityContext), 'sh', '-c', `cd ${quoted(workingDir)}; exec "$@"`, 'sh', ...words]
    script.push(`exec chroot ${root} ${inside.map(quoted).join(' ')}`)
    return script.join('\n')
  }
}

/** The path that the links of the root lead to: followed from outside, they would lead out of it. */
function withoutLinks(path: string): string {
  if (existsSync(path) || path === '/') return realpathSync(path)
  return join(withoutLinks(dirname(path)), basename(path))
}

const CHECKOUT = fileURLToPath(new URL('../../../..', import.meta.url))

/** Gives up what the container shall not have; root is needed until here. */
function rights(pod: PodSpec, own: SecurityContext = {}): string[] {
  const user = own.runAsUser ?? pod.securityContext?.runAsUser ?? 0
  const group = own.runAsGroup ?? pod.securityContext?.runAsGroup ?? user
  const fsGroup = pod.securityContext?.fsGroup
  const words = ['setpriv', `--reuid=${user}`, `--regid=${group}`]
  words.push(fsGroup === undefined ? '--clear-groups' : `--groups=${fsGroup}`)
  if (own.allowPrivilegeEscalation === false) words.push('--no-new-privs')
  const { drop = [], add = [] } = own.capabilities ?? {}
  const changes = [...drop.map((name) => `-${name.toLowerCase()}`), ...add.map((name) => `+${name.toLowerCase()}`)]
  if (changes.length > 0) words.push(`--bounding-set=${changes.join(',')}`)
  return words
}
