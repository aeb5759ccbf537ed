/** How this machine names the key that shortcuts are pressed with. */
export const MOD_KEY = isApple() ? '⌘' : 'Ctrl '

function isApple(): boolean {
  return typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)
}
