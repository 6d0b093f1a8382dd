// A runner in Node, written from docs/architecture/runner-protocol.md alone. Two tasks, both async, side by side:
//   node.greet {name, times}   prints, answers {greeting}
//   node.nap   {seconds}       sleeps; heeds a cancel; reports progress; fails when seconds is negative
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const LOG_CREDIT = 4 * 1024 * 1024;
const open = (variable) => {
  const socket = new net.Socket({ fd: Number(process.env[variable]), readable: true, writable: true });
  socket.on("close", () => process.exit(stopping && running.size === 0 ? 0 : 1)); // the coordinator is gone
  socket.on("error", () => process.exit(1));
  return socket;
};
const control = open("MAINSPRING_CONTROL_FD");
const bulk = open("MAINSPRING_BULK_FD");

// A claim has more digits than a number holds, so an attempt is named by the text that starts its frames.
const say = (socket, type, attempt, members = {}) => {
  const names = attempt ? `,"job":${attempt.job},"claim":${attempt.claim}` : "";
  const rest = JSON.stringify(members).slice(1);
  socket.write(`{"type":"${type}"${names}${rest === "}" ? rest : `,${rest}`}\n`);
};
const listen = (socket, receive) => {
  let partial = "";
  socket.setEncoding("utf8");
  socket.on("data", (data) => {
    const lines = (partial + data).split("\n");
    partial = lines.pop();
    for (const line of lines) {
      const [, , job, claim] = line.match(/^\{"type":"(\w+)"(?:,"job":(\d+),"claim":(\d+))?/) ?? [];
      receive(JSON.parse(line), { job, claim });
    }
  });
};

const schema = (properties) => ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
const tasks = {
  "node.greet": {
    schema: schema({ name: { type: "string" }, times: { type: "integer" } }),
    async run({ name, times }, job) {
      for (let time = 0; time < times; time += 1) {
        job.print(`hello ${name} ${time}\n`);
        await sleep(1);
      }
      return { greeting: `hello ${name}` };
    },
  },
  "node.nap": {
    schema: schema({ seconds: { type: "number" } }),
    async run({ seconds }, job) {
      if (seconds < 0) throw new RangeError(`can't sleep for ${seconds} s`);
      job.progress({ asleep: true });
      job.print(`asleep since attempt ${job.attempt}\n`);
      await sleep(seconds * 1000, undefined, { signal: job.signal });
      return null;
    },
  },
};

const running = new Map();
const early = new Map();
let stopping = false;

class Job {
  constructor(start, name) {
    this.name = name;
    this.attempt = start.attempt;
    this.task = start.task;
    this.room = start.log_room ?? 0;
    this.cut = 0;
    this.asked = null;
    this.abort = new AbortController();
    this.signal = this.abort.signal;
    this.chunks = [];
    this.last = null; // what is still to be said once the log is out
  }

  print(text) {
    const size = Buffer.byteLength(text);
    if (size > this.room) this.cut += size; // simpler than the page allows: nothing of the tail is kept
    else {
      this.room -= size;
      this.chunks.push([Date.now() * 1000, "stdout", text]);
    }
    Job.flush();
  }

  progress(details) {
    say(control, "progress", this.name, { details });
  }

  async run(params) {
    const ended = { outcome: "succeeded" };
    try {
      ended.result = await tasks[this.task].run(params, this);
    } catch (error) {
      ended.outcome = "failed";
      ended.failure = { type: error.name, message: error.message, traceback: error.stack, types: [error.name, "Error"] };
    }
    if (this.asked) {
      delete ended.failure;
      delete ended.result;
      ended.outcome = this.asked;
    }
    if (this.cut) {
      const mark = `[mainspring: ${this.cut.toLocaleString("en-US")} bytes cut here; 10 MiB are kept per job]\n`;
      this.chunks.push([Date.now() * 1000, "mainspring", mark]);
    }
    this.last = ended;
    Job.flush();
  }

  static credit = LOG_CREDIT;

  static flush() {
    for (const [key, job] of running) {
      if (job.chunks.length && Job.credit > 0) {
        Job.credit -= job.chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk[2]), 0);
        say(bulk, "log", job.name, { chunks: job.chunks.splice(0) });
      }
      if (job.last && !job.chunks.length) {
        running.delete(key);
        say(bulk, "ended", job.name, job.last);
      }
    }
    if (stopping && running.size === 0) {
      control.end();
      bulk.end(() => process.exit(0));
    }
  }
}

listen(control, (frame, name) => {
  switch (frame.type) {
    case "start": {
      const job = new Job(frame, name);
      running.set(name.claim, job);
      if (!frame.bulk) job.run(frame.params ?? {});
      else if (early.has(name.claim)) job.run(early.get(name.claim));
      early.delete(name.claim);
      break;
    }
    case "cancel": {
      const job = running.get(name.claim);
      if (job && !job.last) {
        job.asked = frame.outcome;
        job.abort.abort();
      }
      break;
    }
    case "credit":
      Job.credit += frame.bytes;
      Job.flush();
      break;
    case "ping":
      say(control, "pong", null, { number: frame.number });
      break;
    case "stop":
      stopping = true;
      Job.flush();
      break;
    default:
      process.exit(1);
  }
});
listen(bulk, (frame, name) => {
  if (frame.type !== "params") return;
  const job = running.get(name.claim);
  if (job) job.run(frame.params);
  else early.set(name.claim, frame.params);
});

process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
const declare = ([name, { schema }]) => ({ name, app: "node", executor: "async", queue: "node", schema, retry: {} });
say(control, "hello", null, {
  protocol: 1,
  pid: process.pid,
  language: "javascript",
  catalog: { app: "node", code_hash: "1", tasks: Object.entries(tasks).map(declare) },
});
