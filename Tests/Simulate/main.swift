import Simulation

SimulationProgram.run(Array(CommandLine.arguments.dropFirst()))
