import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { run } from './kubelet/commands.ts'
import { NODE_ADDRESS, NODE_NAME } from './kubelet/node-settings.ts'
import { commandOf, ETCD } from './program-arguments.ts'
import { serveRelay } from './relay.ts'
import { bedFiles, type BedSettings, type Order, type Program } from './settings.ts'

/**
 * The life of a bed inside of its namespaces. It prints a line when all of it works, does what it is told line by line, and
 * ends with its standard input: whoever started it is gone then.
 */

const [, , folder = ''] = process.argv
const files = bedFiles(folder)
const settings = JSON.parse(readFileSync(files.settings, 'utf8')) as BedSettings
const childByProgram = new Map<Program, ChildProcess>()
/** Those that were told to end. */
const expected = new Set<ChildProcess>()

createInterface({ input: process.stdin })
  .on('line', (line) => obey(JSON.parse(line) as Order))
  .on('close', () => process.exit(0))

async function begin(): Promise<void> {
  await network()
  start('etcd')
  await until('etcd', async () => (await fetch(`${ETCD}/health`)).ok)
  start('kube-apiserver')
  await until('kube-apiserver', async () => (await kubectl('get', '--raw', '/readyz')) === 'ok')
  serveRelay(files.relay)
  await applyManifests()
  if (settings.parts === 'api') return
  // After the CRDs: its garbage collector looks for new kinds only now and then.
  for (const program of ['kube-controller-manager', 'kube-proxy', 'kubelet'] as const) start(program)
  await until('kubelet', async () => (await kubectl('get', 'node', NODE_NAME, '-o', READY)) === 'True')
  // Pods need it, and a controller makes it.
  await until('the first service account', async () => (await kubectl('get', 'serviceaccount', 'default')) !== '')
}

const READY = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'

async function network(): Promise<void> {
  // Services have no device of their own: kube-proxy rewrites their addresses on the way out.
  await run(
    'sh',
    '-ec',
    `ip link set lo up
    ip addr add ${NODE_ADDRESS}/32 dev lo
    ip route add 10.96.0.0/15 dev lo src ${NODE_ADDRESS}`,
  )
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
}

async function applyManifests(): Promise<void> {
  if (settings.manifests.length === 0) return
  await kubectl('apply', '--server-side', ...settings.manifests.flatMap((file) => ['-f', file]))
  const found = await kubectl('get', 'crd', '-o', 'name')
  if (found !== '') await kubectl('wait', '--for=condition=Established', '--timeout=120s', 'crd', '--all')
}

function start(program: Program): void {
  const [name, ...args] = commandOf(program, folder, settings)
  const log = openSync(files.logOf(program), 'a')
  const child = spawn(name, args, { cwd: folder, stdio: ['ignore', log, log] })
  closeSync(log)
  childByProgram.set(program, child)
  child.on('error', (error) => fail(`${program}: ${error.message}`))
  child.on('exit', (code) => {
    if (expected.has(child)) process.stdout.write(`${JSON.stringify({ ended: program })}\n`)
    else fail(`${program} ended with ${code}`)
  })
}

function obey(order: Order): void {
  if (order.order === 'start') return start(order.program)
  const child = childByProgram.get(order.program)
  if (child === undefined) return
  if (['SIGKILL', 'SIGTERM'].includes(order.signal)) expected.add(child)
  child.kill(order.signal)
}

function kubectl(...args: readonly string[]): Promise<string> {
  return run('kubectl', '--kubeconfig', files.kubeconfig, ...args)
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + PATIENCE_MS
  let last: unknown
  while (!(await holds().catch((error: unknown) => ((last = error), false)))) {
    if (performance.now() > limit) throw new Error(`${what} is not ready: ${String(last)}`)
    await wait(100)
  }
}

const PATIENCE_MS = 240_000

function fail(why: string): never {
  process.stdout.write(`${JSON.stringify({ failed: why })}\n`)
  process.exit(1)
}

try {
  await begin()
  process.stdout.write('{"ready":true}\n')
} catch (error) {
  fail(error instanceof Error ? error.message : String(error))
}
