import { useEffect, useState } from 'preact/hooks'

/** The time, told anew every second while `isNeeded`. */
export function useNow(isNeeded: boolean): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    if (!isNeeded) return undefined
    setNowMs(Date.now())
    const timer = setInterval(() => setNowMs(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isNeeded])
  return nowMs
}
