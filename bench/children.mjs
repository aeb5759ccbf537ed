// Child processes: pinned to a core, each in its own process group, none left behind when the bench ends.
import { spawn, spawnSync } from 'node:child_process'
import { openSync, closeSync } from 'node:fs'
import { machineTools } from './machine.mjs'

export const PROXY_CORE = 0
export const LOAD_CORE = 1

const groups = new Set()

process.on('exit', () => {
  for (const pid of groups) signalGroup(pid, 'SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))

/** Keeps the bench itself off the proxy's core. */
export function pinSelf() {
  const { taskset } = machineTools()
  if (taskset) spawnSync(taskset, ['-acp', String(LOAD_CORE), String(process.pid)])
}

/**
 * Starts a long-running program; its output goes to a file, so that no pipe can fill up.
 * @param {{ command: string, args: string[], core: number, log: string, env?: Record<string, string>, cwd?: string }} what
 */
export function startChild(what) {
  const out = openSync(what.log, 'a')
  const [command, args] = pinned(what.core, what.command, what.args)
  const child = spawn(command, args, {
    cwd: what.cwd,
    env: { ...process.env, ...what.env },
    stdio: ['ignore', out, out],
    detached: true,
  })
  closeSync(out)
  const state = { pid: child.pid ?? 0, ended: false }
  if (child.pid) groups.add(child.pid)
  const exited = new Promise((resolve) => {
    child.once('error', () => resolve(-1))
    child.once('exit', (code) => resolve(code ?? -1))
  }).then((code) => {
    state.ended = true
    return code
  })
  const stop = async (graceMs = 3000) => {
    signalGroup(state.pid, 'SIGTERM')
    const timer = setTimeout(() => signalGroup(state.pid, 'SIGKILL'), graceMs)
    await exited
    clearTimeout(timer)
    // A group leader that died may leave workers behind.
    signalGroup(state.pid, 'SIGKILL')
    groups.delete(state.pid)
  }
  return { pid: state.pid, exited, hasEnded: () => state.ended, stop }
}

/**
 * Runs a program to its end on the load core and gives back what it printed.
 * @param {string} command
 * @param {string[]} args
 * @param {number} timeoutMs
 * @returns {Promise<{ code: number, stdout: string, stderr: string, timedOut: boolean }>}
 */
export function runChild(command, args, timeoutMs) {
  const [program, all] = pinned(LOAD_CORE, command, args)
  return new Promise((resolve) => {
    const child = spawn(program, all, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    if (child.pid) groups.add(child.pid)
    const texts = { stdout: '', stderr: '' }
    let timedOut = false
    child.stdout.setEncoding('utf8').on('data', (text) => (texts.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (texts.stderr += text))
    const timer = setTimeout(() => {
      timedOut = true
      signalGroup(child.pid ?? 0, 'SIGKILL')
    }, timeoutMs)
    const finish = (code) => {
      clearTimeout(timer)
      groups.delete(child.pid ?? 0)
      resolve({ code: code ?? -1, ...texts, timedOut })
    }
    child.once('error', () => finish(-1))
    child.once('close', finish)
  })
}

function pinned(core, command, args) {
  const { taskset } = machineTools()
  return taskset ? [taskset, ['-c', String(core), command, ...args]] : [command, args]
}

function signalGroup(pid, signal) {
  if (pid <= 0) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The process is already gone.
  }
}
