import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startBed } from './bed.ts'
import { withoutBed } from './programs.ts'

/** A bed by hand: `build`, `up`, `exec COMMAND...`, `down`. */

interface State {
  pid: number
  enter: string[]
  environment: Record<string, string>
  kubeconfig: string
}

const FOLDER = join(tmpdir(), 'portico-bed')
const STATE = join(FOLDER, 'state.json')
const OWN = fileURLToPath(import.meta.url)
const [, , command, ...args] = process.argv

switch (command ?? '') {
  case 'build':
    execFileSync(process.execPath, [fileURLToPath(new URL('build.ts', import.meta.url)), ...args], { stdio: 'inherit' })
    break
  case 'up':
    await up()
    break
  case 'hold':
    await hold()
    break
  case 'exec':
    exec()
    break
  case 'down':
    down()
    break
  default:
    console.error('one of: build, up, exec COMMAND..., down')
    process.exitCode = 2
}

async function up(): Promise<void> {
  if (withoutBed !== false) throw new Error(withoutBed)
  if (running() !== undefined) return console.log('it is up')
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const log = openSync(join(FOLDER, 'log'), 'w')
  const child = spawn(process.execPath, [OWN, 'hold'], { detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  while (running() === undefined) {
    if (child.exitCode !== null) throw new Error(readFileSync(join(FOLDER, 'log'), 'utf8'))
    await wait(100)
  }
  child.unref()
  console.log(`it is up; export KUBECONFIG=${running()?.kubeconfig}`)
}

/** Has a bed until it is ended. */
async function hold(): Promise<void> {
  const bed = await startBed()
  const { kubeconfig, environment } = bed
  writeFileSync(`${STATE}.new`, JSON.stringify({ pid: process.pid, enter: bed.enter([]), environment, kubeconfig }))
  execFileSync('mv', [`${STATE}.new`, STATE])
  await new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()))
  await bed.stop()
}

function exec(): void {
  const state = running()
  if (state === undefined) throw new Error('no bed is up')
  const [program = '', ...rest] = [...state.enter, ...args]
  const { status } = spawnSync(program, rest, { stdio: 'inherit', env: { ...process.env, ...state.environment } })
  process.exitCode = status ?? 1
}

function down(): void {
  const state = running()
  if (state !== undefined) process.kill(state.pid, 'SIGTERM')
  rmSync(STATE, { force: true })
}

function running(): State | undefined {
  if (!existsSync(STATE)) return undefined
  const state = JSON.parse(readFileSync(STATE, 'utf8')) as State
  return existsSync(`/proc/${state.pid}`) ? state : undefined
}
