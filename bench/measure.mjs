// CPU time and memory of a process tree, read from /proc.
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'

const ticksPerSecond = Number(spawnSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }).stdout) || 100

/**
 * One line of /proc/<pid>/stat. The name may hold spaces and brackets, so fields are counted from the last bracket.
 * @param {string} line
 */
export function parseProcessStat(line) {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), userTicks: Number(fields[11]), systemTicks: Number(fields[12]) }
}

/**
 * Busy ticks of one core in /proc/stat; time stolen by the hypervisor counts, for the proxy did not have it.
 * @param {string} text
 * @param {number} core
 */
export function parseCoreBusy(text, core) {
  const line = text.split('\n').find((line) => line.startsWith(`cpu${core} `))
  if (!line) return 0
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(/\s+/).slice(1).map(Number)
  return user + nice + system + irq + softirq + steal
}

/** @param {string} status text of /proc/<pid>/status */
export function parseResidentBytes(status) {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

/** First field of /proc/<pid>/task/<tid>/schedstat: nanoseconds on a core. */
export function parseSchedstat(text) {
  return Number(text.split(' ')[0])
}

/** CPU seconds used so far by the process, its threads and its children. */
export function cpuSeconds(pid) {
  let total = 0
  for (const member of processTree(pid)) total += processSeconds(member)
  return total
}

/** Resident bytes of the process and its children, shared pages counted in each (as `ps` does). */
export function residentBytes(pid) {
  let total = 0
  for (const member of processTree(pid)) total += parseResidentBytes(read(`/proc/${member}/status`))
  return total
}

export function coreBusySeconds(core) {
  return parseCoreBusy(read('/proc/stat'), core) / ticksPerSecond
}

function processTree(root) {
  const childrenByParent = new Map()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const line = read(`/proc/${name}/stat`)
    if (!line) continue
    const { parent } = parseProcessStat(line)
    childrenByParent.set(parent, [...(childrenByParent.get(parent) ?? []), Number(name)])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(childrenByParent.get(pid) ?? []))
  return tree
}

// utime + stime are the same quantity in steps of 10 ms; the per-thread run time has it in nanoseconds.
function processSeconds(pid) {
  let nanoseconds = 0
  for (const thread of threadsOf(pid)) nanoseconds += parseSchedstat(read(`/proc/${pid}/task/${thread}/schedstat`))
  if (nanoseconds > 0) return nanoseconds / 1e9
  const line = read(`/proc/${pid}/stat`)
  if (!line) return 0
  const { userTicks, systemTicks } = parseProcessStat(line)
  return (userTicks + systemTicks) / ticksPerSecond
}

function threadsOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
