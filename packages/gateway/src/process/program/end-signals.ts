/**
 * Calls `asked` for each request to end the program, with their number so far. A terminal or a service manager may signal
 * the launcher as well, which passes the signal on as SIGUSR2; both together count once.
 */
export function onEndSignal(process: Pick<NodeJS.Process, 'on'>, asked: (times: number) => void): void {
  const told = { directly: 0, byLauncher: 0 }
  let times = 0
  const count = (by: keyof typeof told): void => {
    told[by]++
    const wishes = Math.max(told.directly, told.byLauncher)
    if (wishes > times) asked((times = wishes))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => count('directly'))
  process.on('SIGUSR2', () => count('byLauncher'))
}
