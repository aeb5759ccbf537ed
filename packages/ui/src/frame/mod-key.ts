/** The name of the modifier key of shortcuts on this machine. */
export const MOD_KEY = isApple() ? '⌘' : 'Ctrl '

function isApple(): boolean {
  return typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)
}
