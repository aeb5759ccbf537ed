// Describes this machine and its programs.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { delimiter, join } from 'node:path'

/** Full path of a program, also in the sbin folders that a user's PATH often lacks; null when it is not installed. */
export function findProgram(name) {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin']
  for (const folder of folders) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // The program is not in this folder.
    }
  }
  return null
}

/** The program named by an environment variable, or else by this name. */
export function programAt(variable, name) {
  return process.env[variable] ?? findProgram(name)
}

/** The Node that Portico runs on; peers on Node use the same. */
export function projectNode() {
  const own = join(import.meta.dirname, '../node_modules/.bin/node')
  return existsSync(own) ? own : process.execPath
}

/** The first match of `pattern` in the program's version output (some print it to standard error, some start serving). */
export function programVersion(command, args, pattern) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: VERSION_MS })
  return pattern.exec(`${stdout}\n${stderr}`)?.[1] ?? 'unknown'
}

const VERSION_MS = 60_000

let tools

/** The programs that the bench itself needs. Without two cores, processes are not pinned. */
export function machineTools() {
  tools ??= {
    h2load: findProgram('h2load'),
    wrk: findProgram('wrk'),
    openssl: findProgram('openssl'),
    taskset: availableParallelism() >= 2 ? findProgram('taskset') : null,
  }
  return tools
}

export function describeMachine() {
  const { h2load, wrk, taskset } = machineTools()
  const model = cpus()[0]?.model.trim() ?? 'unknown CPU'
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  return {
    machine: `${model}, ${cpus().length} cores, ${memory}, Linux ${release()}`,
    pinning: taskset ? 'proxy on core 0; load and origin on core 1' : 'NOT pinned (needs taskset and two cores)',
    load: [
      h2load && `h2load ${programVersion(h2load, ['--version'], /nghttp2\/(\S+)/)}`,
      wrk ? `wrk ${programVersion(wrk, ['-v'], /(\d+\.\d+\.\d+)/)}` : 'wrk not found (saturated by h2load)',
    ]
      .filter(Boolean)
      .join(', '),
  }
}
